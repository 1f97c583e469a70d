#pragma once

#include <cstddef>

#include <ATen/core/Tensor.h>
#include <ATen/ops/isfinite.h>

namespace seqtrain::tensor {

/// Returns one bool on the tensors' device: whether each number that is finite in `before` is
/// finite in `after`. The call does not wait for the device. There must be at least one tensor.
[[nodiscard]] inline at::Tensor stays_finite(at::TensorList before, at::TensorList after) {
  at::Tensor result;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const at::Tensor good =
        at::isfinite(before[i]).logical_not().logical_or(at::isfinite(after[i])).all();
    result = result.defined() ? result.logical_and(good) : good;
  }
  return result;
}

}  // namespace seqtrain::tensor
