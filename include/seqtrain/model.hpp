#pragma once

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>
#include <seqtrain/model/awd_lstm/language_model.hpp>
#include <seqtrain/model/awd_lstm/load_awd_lstm.hpp>
#include <seqtrain/model/awd_lstm/pretrained_words.hpp>
#include <seqtrain/model/awd_lstm/qrnn.hpp>
#include <seqtrain/model/awd_lstm/recurrent_state.hpp>
#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/input_checks.hpp>
#include <seqtrain/model/loss/loss.hpp>
#include <seqtrain/model/loss/problem_loss.hpp>
#include <seqtrain/model/nn_module.hpp>
#include <seqtrain/model/options.hpp>
#include <seqtrain/model/predictor.hpp>
