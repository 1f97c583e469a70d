#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <seqtrain/model/nn/distances.hpp>
#include <seqtrain/model/nn/rope.hpp>

namespace seqtrain::model {

/// Rotary positions (Su et al. 2021): a token's queries and keys are rotated by angles that grow
/// with its position, so that scores depend on distances.
class Rotary {
 public:
  /// Makes the angles of tokens with these positions, for heads of a size of which an even number
  /// is rotated.
  Rotary(const at::Tensor& positions, std::int64_t size, const Rope& rope) {
    const at::Tensor one = of_one_position(positions, rotated_size(rope, size), rope);
    const at::Tensor theta = positions.unsqueeze(-1).mul(one);
    at::Tensor cos = theta.cos(), sin = theta.sin();
    if (rope.magnitude != 1) {
      cos = cos.mul(rope.magnitude);
      sin = sin.mul(rope.magnitude);
    }
    neighbours_ = rope.neighbours;
    cos_ = neighbours_ ? cos.repeat_interleave(2, -1) : at::cat({cos, cos}, -1);
    sin_ =
        neighbours_ ? at::stack({sin.neg(), sin}, -1).flatten(-2) : at::cat({sin.neg(), sin}, -1);
  }

  /// Makes plain angles.
  Rotary(const at::Tensor& positions, std::int64_t size, double base)
      : Rotary{positions, size, Rope{.base = base}} {}

  /// Rotates x [..., size], whose dimensions before the last one are broadcast with the positions';
  /// -1 as `direction` rotates it back. The result has x's type and is computed in fp32.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x, double direction = 1) const {
    const std::int64_t size = cos_.size(-1), rest = x.size(-1) - size;
    if (rest == 0) return rotated(x, direction);
    return at::cat({rotated(x.narrow(-1, 0, size), direction), x.narrow(-1, size, rest)}, -1);
  }

 private:
  [[nodiscard]] at::Tensor rotated(const at::Tensor& x, double direction) const {
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor partners = neighbours_ ? wide.unflatten(-1, {-1, 2}).flip(-1).flatten(-2)
                                            : wide.roll(x.size(-1) / 2, -1);
    return wide.mul(cos_).addcmul(partners, sin_, direction).to(x.scalar_type());
  }

  static at::Tensor of_one_position(const at::Tensor& positions, std::int64_t size,
                                    const Rope& rope) {
    const auto options = positions.options().dtype(at::kFloat);
    if (rope.scaling == Rope::Scaling::none && rope.given.empty()) {
      const at::Tensor steps = at::arange(0, size, 2, options).div(static_cast<double>(size));
      return at::pow(rope.base, steps).reciprocal();
    }
    const auto scaled = angles(rope, static_cast<std::size_t>(size));
    return sent(at::tensor(scaled, at::kFloat), positions.device());
  }

  bool neighbours_ = false;  ///< pairs are neighbours
  at::Tensor cos_, sin_;     ///< as positions, with a last dimension of as many as are rotated
};

}  // namespace seqtrain::model
