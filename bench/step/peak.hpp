#pragma once

#include <algorithm>
#include <chrono>

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <seqtrain/model/precision.hpp>

namespace seqtrain::bench {

/// Returns the highest rate of floating-point operations per second in at::mm of 2048 x 2048
/// matrices on this machine.
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
