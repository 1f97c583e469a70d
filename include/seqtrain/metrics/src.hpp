#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/metrics/src/classification.hpp>
#include <seqtrain/metrics/src/evaluation.hpp>
#include <seqtrain/metrics/src/multi_label.hpp>
#include <seqtrain/metrics/src/regression.hpp>
