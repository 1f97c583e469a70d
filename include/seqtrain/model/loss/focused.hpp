#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/expm1.h>

namespace seqtrain::model {

/// Returns (1 - p)^gamma times each cross-entropy -log(p), the focal loss of Lin et al. 2017,
/// "Focal loss for dense object detection": answers that are right already count less.
inline at::Tensor focused(const at::Tensor& cross_entropies, double gamma) {
  // At 0 the derivative of a power below 1 is infinite.
  const at::Tensor wrong = at::expm1(-cross_entropies).neg().clamp_min(1e-12);
  return wrong.pow(gamma) * cross_entropies;
}

}  // namespace seqtrain::model
