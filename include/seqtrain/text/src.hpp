#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/text/src/any_tokenizer.hpp>
#include <seqtrain/text/src/load_tokenizer.hpp>
