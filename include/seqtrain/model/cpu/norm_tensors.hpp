#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/kernels/layer_norm.hpp>

namespace seqtrain::model::cpu {

/// The weights of a layer normalization with their gradients, which are undefined where frozen. All
/// are undefined if there is no norm.
struct NormTensors {
  at::Tensor gamma, beta;      ///< [hidden]; beta is zeros if the norm has none
  at::Tensor d_gamma, d_beta;  ///< d_beta is undefined if the norm has no beta
  double eps = 0;
  bool centers = true;            ///< see `kernels::LayerNormWeights`
  double offset = 0;              ///< the scale is gamma plus it
  std::vector<float> scale = {};  ///< the scale, if there is an offset

  /// Tells whether there is a norm.
  [[nodiscard]] bool exists() const { return gamma.defined(); }

  /// Computes the scale. Call it before a forward pass.
  void prepare() {
    if (offset == 0) return;
    const auto* const from = gamma.const_data_ptr<float>();
    scale.resize(static_cast<std::size_t>(gamma.numel()));
    for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = from[i] + static_cast<float>(offset);
  }

  [[nodiscard]] kernels::LayerNormWeights weights() const {
    return {offset == 0 ? gamma.const_data_ptr<float>() : scale.data(),
            beta.const_data_ptr<float>(), static_cast<float>(eps), centers};
  }
};

}  // namespace seqtrain::model::cpu
