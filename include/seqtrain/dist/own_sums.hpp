#pragma once

#include <span>

#include <ATen/core/Tensor.h>

#include <seqtrain/dist/gradient_copy.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::dist {

/// The sums that one process adds to the exchange of a step: one for each of its subtrees, from
/// left to right. The gradients of the parameters hold the last sum, and `before` holds the others.
/// A process that has no part in the step has none.
struct OwnSums {
  std::span<const tensor::Parameter> parameters;
  std::span<const GradientCopy> before;
  at::Tensor losses;  ///< [batches of the step], zero for batches of other processes
};

}  // namespace seqtrain::dist
