#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Device.h>
#include <c10/core/TensorOptions.h>

#include <seqtrain/tensor/loss_scale.hpp>

namespace seqtrain::tensor {

SEQTRAIN_SEPARATE LossScale::LossScale(c10::Device device)
    : value{at::full({}, 65536, at::TensorOptions{at::kFloat}.device(device))},
      steps{at::zeros({}, value.options().dtype(at::kInt))} {}

SEQTRAIN_SEPARATE void LossScale::update(const at::Tensor& found_inf) {
  at::_amp_update_scale_(value, steps, found_inf, /*growth=*/2, /*backoff=*/0.5, growth_interval);
}

}  // namespace seqtrain::tensor
