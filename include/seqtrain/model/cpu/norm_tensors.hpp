#pragma once

#include <ATen/core/Tensor.h>

#include <seqtrain/kernels/layer_norm.hpp>

namespace seqtrain::model::cpu {

/// The weights of a layer normalization with their gradients, which are undefined where frozen.
struct NormTensors {
  at::Tensor gamma, beta;      ///< [hidden]; beta is zeros if the norm has none
  at::Tensor d_gamma, d_beta;  ///< d_beta is undefined if the norm has no beta
  double eps = 0;
  bool centers = true;  ///< see `kernels::LayerNormWeights`

  [[nodiscard]] kernels::LayerNormWeights weights() const {
    return {gamma.const_data_ptr<float>(), beta.const_data_ptr<float>(), static_cast<float>(eps),
            centers};
  }
};

}  // namespace seqtrain::model::cpu
