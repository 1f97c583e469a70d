#pragma once

// Defines the functions of this room that are compiled separately: see
// core/separate_compilation.hpp.
#include <seqtrain/core/needs_separate_compilation.hpp>
#include <seqtrain/optim/src/adam.hpp>
#include <seqtrain/optim/src/adam_moments.hpp>
#include <seqtrain/optim/src/adam_on_cpu.hpp>
#include <seqtrain/optim/src/adam_on_device.hpp>
#include <seqtrain/optim/src/any.hpp>
#include <seqtrain/optim/src/by_rule.hpp>
#include <seqtrain/optim/src/gradients.hpp>
#include <seqtrain/optim/src/make.hpp>
