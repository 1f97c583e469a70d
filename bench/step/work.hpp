#pragma once

#include <algorithm>
#include <chrono>

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/precision.hpp>

#include "made_model.hpp"

namespace seqtrain::bench {

/// Floating-point operations in the products that a batch's logits need: tokens without padding,
/// and of the last layer, behind its keys and values, the first tokens only. Training needs three
/// times as many.
inline double operations(const Shape& shape, const data::Batch& batch) {
  const auto h = static_cast<double>(shape.hidden);
  const double weights = h * h + 2 * h * static_cast<double>(shape.inner);
  const auto tokens = static_cast<double>(batch.tokens());
  const auto rows = static_cast<double>(batch.rows);
  double squares = 0;
  for (const double length : batch.lengths) squares += length * length;
  const double whole = tokens * (3 * h * h + weights) + 2 * squares * h;
  const double last = tokens * (3 * h * h + 2 * h) + rows * weights;
  return 2 * (static_cast<double>(shape.layers - 1) * whole + last + rows * h * h);
}

/// Returns the rate of this machine's largest products in operations a second: at::mm of 2048 x
/// 2048.
inline double peak(model::Precision precision) {
  constexpr std::int64_t size = 2'048;
  const auto type = precision == model::Precision::bf16 ? at::kBFloat16 : at::kFloat;
  const at::Tensor a = at::ones({size, size}, type);
  double best = 0;
  for (int i = 0; i < 8; ++i) {
    const auto start = std::chrono::steady_clock::now();
    (void)at::mm(a, a);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2.0 * size * size * size / time.count());
  }
  return best;
}

}  // namespace seqtrain::bench
