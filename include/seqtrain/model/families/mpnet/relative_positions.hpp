#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/where.h>

#include <seqtrain/model/cpu/distance_bias.hpp>
#include <seqtrain/model/nn/parameters.hpp>

namespace seqtrain::model {

/// A bias on the scores of attention that depends on the distance of query and key. There is a
/// number for each head and each of 32 ranges of distances (Raffel et al. 2020). Half of the ranges
/// are for keys after the query. In each half the first 8 ranges hold one distance each, and the
/// others become wider up to a distance of 128.
class RelativePositions {
 public:
  static constexpr std::int64_t ranges = 32;

  RelativePositions(const Scope& scope, std::int64_t heads)
      : weight_{scope.make("weight", {ranges, heads}, Role::positions)} {}

  /// Returns the numbers for the hand-written passes.
  [[nodiscard]] cpu::DistanceNumbers cpu_part() const {
    return {.numbers = weight_, .gradient = weight_.grad(), .ranges = [](std::int64_t length) {
              const at::Tensor of = range_of(at::arange(1 - length, length, at::kLong));
              const auto* const first = of.const_data_ptr<std::int64_t>();
              return std::vector<std::int64_t>(first, first + of.numel());
            }};
  }

  /// Returns the bias [1, heads, width, width].
  [[nodiscard]] at::Tensor operator()(std::int64_t width) const {
    const at::Tensor place = at::arange(width, weight_.options().dtype(at::kLong));
    const at::Tensor numbers =
        at::embedding(weight_, range_of(place.unsqueeze(0).sub(place.unsqueeze(1))));
    return numbers.permute({2, 0, 1}).unsqueeze(0);
  }

 private:
  /// Returns the ranges of distances, which are the key's position less the query's.
  static at::Tensor range_of(const at::Tensor& distance) {
    constexpr std::int64_t half = ranges / 2;
    constexpr std::int64_t exact = half / 2;
    constexpr double farthest = 128;
    const at::Tensor size = distance.abs();
    const at::Tensor far = size.to(at::kFloat)
                               .div(exact)
                               .log()
                               .div(std::log(farthest / exact))
                               .mul(half - exact)
                               .to(at::kLong)
                               .add(exact)
                               .clamp_max(half - 1);
    return at::where(size.lt(exact), size, far).add(distance.gt(0).to(at::kLong).mul(half));
  }

  at::Tensor weight_;  ///< [ranges, heads]
};

}  // namespace seqtrain::model
