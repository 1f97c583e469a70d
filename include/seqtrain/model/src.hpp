#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/model/src/any_classifier.hpp>
#include <seqtrain/model/src/any_encoder.hpp>
#include <seqtrain/model/src/any_predictor.hpp>
#include <seqtrain/model/src/load_any_network.hpp>
#include <seqtrain/model/src/load_classifier.hpp>
#include <seqtrain/model/src/loss.hpp>
#include <seqtrain/model/src/lstm.hpp>
#include <seqtrain/model/src/make_backend.hpp>
#include <seqtrain/model/src/word_loss.hpp>
