#pragma once

#include <algorithm>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>

namespace seqtrain::optim {

/// Returns the 2-norm of each gradient, [gradients], in fp64: the squares of finite floats may be
/// beyond fp32.
[[nodiscard]] inline at::Tensor gradient_norms(at::TensorList gradients) {
  const auto type = gradients[0].is_mps() ? at::kFloat : at::kDouble;  // Metal has no fp64
  return at::stack(at::_foreach_norm(gradients, 2, type));
}

/// Returns the 2-norm of all gradients as one vector, a scalar on their device, from the norm of
/// each.
[[nodiscard]] inline at::Tensor common_norm(const at::Tensor& norms) {
  return at::linalg_vector_norm(norms, 2);
}

/// Returns the 2-norm of all gradients as one vector, a scalar on their device.
[[nodiscard]] inline at::Tensor global_norm(at::TensorList gradients) {
  return common_norm(gradient_norms(gradients));
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
  at::_foreach_mul_(gradients, factor.clamp_max_(1).to(gradients[0].scalar_type()));
}

}  // namespace seqtrain::optim
