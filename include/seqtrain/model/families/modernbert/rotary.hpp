#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>

namespace seqtrain::model {

/// Rotary positions (Su et al. 2021): a token's queries and keys are turned by angles that grow
/// with its position, so that scores depend on distances.
class Rotary {
 public:
  /// Makes the angles of positions below `width` for heads of an even size.
  Rotary(std::int64_t width, std::int64_t size, double base, c10::Device device) {
    const auto options = at::TensorOptions{}.dtype(at::kFloat).device(device);
    const at::Tensor steps = at::arange(0, size, 2, options).div(static_cast<double>(size));
    const at::Tensor angles =
        at::arange(width, options).unsqueeze(1).mul(at::pow(base, steps).reciprocal());
    const at::Tensor both = at::cat({angles, angles}, -1);
    cos_ = both.cos();
    sin_ = both.sin();
  }

  /// Turns x [rows, heads, width, size]. The result has x's type and is computed in fp32.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const {
    const at::Tensor wide = x.to(at::kFloat);
    const auto halves = wide.chunk(2, -1);
    const at::Tensor turned = at::cat({halves[1].neg(), halves[0]}, -1);
    return wide.mul(cos_).add(turned.mul(sin_)).to(x.scalar_type());
  }

 private:
  at::Tensor cos_, sin_;  ///< [width, size]
};

}  // namespace seqtrain::model
