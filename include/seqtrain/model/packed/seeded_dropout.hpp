#pragma once

#include <cmath>
#include <cstdint>

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/Device.h>

#include <seqtrain/cuda/layer_norm_kernel.hpp>

namespace seqtrain::model::packed {

/// Dropout whose mask a kernel makes again from a seed on the device and the mask's number.
struct SeededDropout {
  at::Tensor seed = {};    ///< int64 [1]; undefined if nothing is dropped
  std::uint32_t mask = 0;  ///< the number of the mask, another one for each use of a seed
  double rate = 0;

  /// Returns the dropout as a kernel takes it.
  [[nodiscard]] cuda::LayerNormDropout argument() const {
    if (!seed.defined()) return {};
    return {.seed = static_cast<const std::uint64_t*>(seed.const_data_ptr()),
            .mask = mask,
            .dropped = static_cast<std::uint32_t>(std::ldexp(rate, 32)),
            .scale = static_cast<float>(1 / (1 - rate))};
  }
};

/// Numbers the masks of a forward pass. The device's own generator, which other dropout uses too,
/// draws their seed, and the host does not read it.
class DropoutMasks {
 public:
  /// Returns dropout with a new mask.
  [[nodiscard]] SeededDropout next(double rate, c10::Device device) {
    if (rate == 0) return {};
    if (!seed_.defined()) {
      seed_ = at::empty({1}, at::TensorOptions{at::kLong}.device(device));
      seed_.random_(at::globalContext().defaultGenerator(device));
    }
    return {.seed = seed_, .mask = masks_++, .rate = rate};
  }

 private:
  at::Tensor seed_;
  std::uint32_t masks_ = 0;
};

}  // namespace seqtrain::model::packed
