#pragma once

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/awd_lstm_classifier.hpp>
#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/input_checks.hpp>
#include <seqtrain/model/language_model.hpp>
#include <seqtrain/model/load_awd_lstm.hpp>
#include <seqtrain/model/loss.hpp>
#include <seqtrain/model/nn_module.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/predictor.hpp>
#include <seqtrain/model/pretrained_words.hpp>
#include <seqtrain/model/problem_loss.hpp>
#include <seqtrain/model/qrnn.hpp>
#include <seqtrain/model/recurrent_state.hpp>
