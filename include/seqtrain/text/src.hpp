#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/src.hpp>
#include <seqtrain/text/src/load_tokenizer.hpp>
