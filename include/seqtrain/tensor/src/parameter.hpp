#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::tensor {

SEQTRAIN_SEPARATE at::Tensor require_gradient(const at::Tensor& value) {
  at::Tensor gradient = at::zeros_like(value);
  value.set_requires_grad(true);
  value.mutable_grad() = gradient;
  return gradient;
}

}  // namespace seqtrain::tensor
