#pragma once

#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

namespace seqtrain::optim {

/// Returns the 2-norm of all gradients as one vector, a scalar on their device.
[[nodiscard]] inline at::Tensor global_norm(at::TensorList gradients) {
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, 2)), 2);
}

/// Returns the factor that clips gradients with this common norm to `max_norm`.
[[nodiscard]] inline double clip_factor(double norm, double max_norm) {
  return std::min(1.0, max_norm / (norm + 1e-6));
}

/// Scales the gradients in place by min(1, max_norm / (norm + 1e-6)), as torch's
/// `clip_grad_norm_` does; `norm` is their `global_norm`. Nothing waits for the device.
inline void clip_grad_norm(at::TensorList gradients, const at::Tensor& norm, double max_norm) {
  if (gradients.empty()) return;
  const at::Tensor factor = norm.add(1e-6).reciprocal_().mul_(max_norm);
  at::_foreach_mul_(gradients, factor.clamp_max_(1));
}

}  // namespace seqtrain::optim
