#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <seqtrain/core/separate_compilation.hpp>

namespace seqtrain::tensor {

/// The factor on a loss whose gradients are computed in fp16, where small gradients would become
/// zero without it. It follows the rule of torch's `GradScaler`: it doubles after `growth_interval`
/// steps in a row, and it halves after a step whose gradients are not finite. The optimizer does
/// not take such a step.
struct LossScale {
  explicit LossScale(c10::Device device);

  /// Changes the factor after a step. `found_inf` is 1 if a gradient is not finite, else 0.
  void update(const at::Tensor& found_inf);

  at::Tensor value;  ///< fp32, a scalar on the device
  at::Tensor steps;  ///< int32, a scalar: the steps in a row since the last change
  std::int64_t growth_interval = 2000;
};

}  // namespace seqtrain::tensor

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/tensor/src/loss_scale.hpp>
#endif
