#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/tensor/generator.hpp>

namespace seqtrain::model {

/// Returns the random stream of a batch's dropout, a pure function of the seed and the batch's
/// place in training.
template <class Batch>
[[nodiscard]] random::Stream dropout_stream(std::uint64_t seed, const Batch& batch) {
  return {seed, random::Purpose::dropout, static_cast<std::uint64_t>(batch.epoch),
          static_cast<std::uint64_t>(batch.index)};
}

/// Dropout for one forward pass by operators (Srivastava et al. 2014): zeroes each element with a
/// probability and scales the others so that the mean stays. All masks of a pass come from one
/// generator in the order of the calls, so they are a pure function of its seed. Masks are fp32
/// even if autocast makes x bfloat16, in which 1 / (1 - probability) would be rounded.
/// kernels/dropout.hpp has the dropout of the hand-written backend.
class Dropout {
 public:
  /// Makes a dropout that leaves everything as it is, for evaluation.
  Dropout() = default;

  Dropout(std::uint64_t seed, c10::Device device)
      : seed_{seed}, generator_{tensor::make_generator(seed, device)} {}

  /// Returns the seed of the masks, or nothing in an evaluation.
  [[nodiscard]] std::optional<std::uint64_t> seed() const { return seed_; }

  /// Tells whether dropout with this probability drops anything.
  [[nodiscard]] bool active(double probability) const { return generator_ && probability > 0; }

  at::Tensor operator()(const at::Tensor& x, double probability) {
    if (!active(probability)) return x;
    const at::Tensor keep = at::empty_like(x, x.options().dtype(at::kFloat).requires_grad(false));
    return x.mul(draw(keep, probability));
  }

  /// Applies dropout with a mask of this shape, which is broadcast over dimensions of size 1.
  at::Tensor masked(const at::Tensor& x, at::IntArrayRef mask_shape, double probability) {
    return active(probability) ? x.mul(mask(mask_shape, x.options(), probability)) : x;
  }

  /// Returns a mask of 0 and 1 / (1 - probability). The dropout must be active.
  at::Tensor mask(at::IntArrayRef shape, const at::TensorOptions& options, double probability) {
    return draw(at::empty(shape, options.requires_grad(false)), probability);
  }

 private:
  at::Tensor draw(const at::Tensor& keep, double probability) {
    return keep.bernoulli_(1 - probability, generator_).div_(1 - probability);
  }

  std::optional<std::uint64_t> seed_;
  std::optional<at::Generator> generator_;
};

}  // namespace seqtrain::model
