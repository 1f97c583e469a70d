#pragma once

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/any_predictor.hpp>
#include <seqtrain/model/architecture.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/model/awd_lstm/load_awd_lstm.hpp>
#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/families.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/make_loss.hpp>
#include <seqtrain/model/nn_module.hpp>
#include <seqtrain/model/options.hpp>
