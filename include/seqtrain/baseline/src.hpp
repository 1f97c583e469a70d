#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/baseline/src/linear_model.hpp>
#include <seqtrain/baseline/src/model.hpp>
#include <seqtrain/baseline/src/terms.hpp>
#include <seqtrain/baseline/src/tfidf.hpp>
#include <seqtrain/baseline/src/tfidf_builder.hpp>
#include <seqtrain/core/needs_separate_compilation.hpp>
