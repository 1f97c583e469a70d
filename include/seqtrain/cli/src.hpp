#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/cli/src/flags.hpp>
#include <seqtrain/cli/src/train_flags.hpp>
#include <seqtrain/core/needs_separate_compilation.hpp>
