#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model {

using tensor::Depth;
using tensor::Role;

/// The distribution of weights, words and distances that a checkpoint lacks: normal with mean 0.
struct InitialWeights {
  double deviation = 0.02;  ///< standard deviation before cutting
  double cutoff = 0;        ///< if above 0, no weight is more than so many deviations from 0
};

/// Returns the source of the initial values of a model's parameter `place`.
[[nodiscard]] inline at::Generator initial_generator(std::uint64_t seed, std::uint64_t place) {
  const random::Stream stream{seed, random::Purpose::initialization, place};
  return tensor::make_generator(stream.at(0), c10::Device{c10::kCPU});
}

/// Returns the initial values of a parameter with this role.
[[nodiscard]] inline at::Tensor initial_values(at::IntArrayRef shape, Role role,
                                               const InitialWeights& initial,
                                               const at::Generator& generator) {
  const at::Tensor value = at::empty(shape, at::kFloat);
  if (role == Role::bias) return value.zero_();
  if (role == Role::scale) return value.fill_(1);
  if (initial.cutoff <= 0) return value.normal_(0, initial.deviation, generator);
  // The inverse of the distribution function maps uniform numbers to cut normal ones.
  const double probability = std::erf(initial.cutoff / std::numbers::sqrt2);
  const double limit = initial.cutoff * initial.deviation;
  value.uniform_(-probability, probability, generator).erfinv_();
  return value.mul_(initial.deviation * std::numbers::sqrt2).clamp_(-limit, limit);
}

}  // namespace seqtrain::model
