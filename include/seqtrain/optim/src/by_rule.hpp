#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <seqtrain/optim/by_rule.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::optim {

[[nodiscard]] SEQTRAIN_SEPARATE at::Tensor zeros_for(const tensor::Parameter& parameter) {
  return at::zeros_like(parameter.value, parameter.value.options().requires_grad(false));
}

[[nodiscard]] SEQTRAIN_SEPARATE at::Tensor no_steps(const tensor::Parameter& parameter) {
  return at::zeros({}, parameter.value.options().requires_grad(false));
}

namespace detail {

SEQTRAIN_SEPARATE void multiply(at::TensorList tensors, double factor) {
  at::_foreach_mul_(tensors, factor);
}

SEQTRAIN_SEPARATE void set_to_zero(at::TensorList tensors) {
  at::_foreach_zero_(tensors);
}

SEQTRAIN_SEPARATE void restore_if(const at::Tensor& found_inf, at::TensorList before,
                                  std::vector<at::Tensor>& tensors) {
  const at::Tensor is_skipped = found_inf.to(at::kBool);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    at::where_out(tensors[i], is_skipped, before[i], tensors[i]);
  }
}

}  // namespace detail

}  // namespace seqtrain::optim
