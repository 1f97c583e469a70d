#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/train/src/checkpoint_options.hpp>
#include <seqtrain/train/src/options.hpp>
#include <seqtrain/train/src/selection.hpp>
#include <seqtrain/train/src/step_watch.hpp>
