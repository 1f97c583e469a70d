#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/tensor/src/batch.hpp>
#include <seqtrain/tensor/src/device_graph.hpp>
#include <seqtrain/tensor/src/device_kernel.hpp>
#include <seqtrain/tensor/src/loss_scale.hpp>
#include <seqtrain/tensor/src/parameter.hpp>
#include <seqtrain/tensor/src/state_dict.hpp>
