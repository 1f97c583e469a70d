#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/predict/src/text_encoder.hpp>
#include <seqtrain/predict/src/words.hpp>
