#pragma once

#include <algorithm>
#include <cstddef>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/model/cpu/norm_tensors.hpp>
#include <seqtrain/model/nn/activation.hpp>

namespace seqtrain::model::cpu {

/// The convolution beside the first layer for predictions, see `ConvolutionParts`. `map` is a
/// linear layer of each token's neighbours in their order, [kernel, hidden].
template <class Map>
struct Convolution {
  Map map;
  NormTensors norm;
  ActivationKind activation;

  /// Copies the neighbours of a text's tokens: from x [length, hidden] to `near` [length, kernel,
  /// hidden], which is zero beyond the ends of the text.
  void gather(const kernels::Bf16* x, std::size_t length, kernels::Bf16* near) const {
    const std::size_t n = map.out(), reach = map.in() / n / 2;
    for (std::size_t token = 0; token < length; ++token) {
      for (std::size_t i = 0; i <= 2 * reach; ++i, near += n) {
        const std::size_t at = token + i - reach;  // very large if before the first token
        if (at < length) std::copy_n(x + at * n, n, near);
        if (at >= length) std::fill_n(near, n, kernels::Bf16{});
      }
    }
  }
};

}  // namespace seqtrain::model::cpu
