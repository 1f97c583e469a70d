#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>

#include <seqtrain/tensor/generator.hpp>

namespace seqtrain::model {

/// Dropout for one forward pass (Srivastava et al. 2014): zeroes each element with a probability
/// and scales the others so that the mean stays. All masks of a pass come from one generator in
/// the order of the calls, so they are a pure function of its seed.
class Dropout {
 public:
  /// Leaves everything as it is: evaluation.
  Dropout() = default;

  Dropout(std::uint64_t seed, c10::Device device)
      : generator_{tensor::make_generator(seed, device)} {}

  [[nodiscard]] bool active(double probability) const { return generator_ && probability > 0; }

  at::Tensor operator()(const at::Tensor& x, double probability) {
    if (!active(probability)) return x;
    const at::Tensor keep = at::empty_like(x, x.options().requires_grad(false));
    return x.mul(keep.bernoulli_(1 - probability, generator_).div_(1 - probability));
  }

 private:
  std::optional<at::Generator> generator_;
};

}  // namespace seqtrain::model
