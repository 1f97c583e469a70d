#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/instructions.hpp>
#include <seqtrain/kernels/tile_product.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::bench {

constexpr std::size_t independent = 12;  // multiply-adds at a time: above any processor's latency
constexpr std::size_t turns = 1'000'000;

/// A number that the compiler does not know.
inline thread_local volatile float unknown = 1;

/// Computes independent multiply-adds without memory, and returns the number of their operations.
inline double multiply_floats() {
  double operations = 0;
  kernels::vectorised([result = &operations](auto width) SEQTRAIN_INLINE_LAMBDA {
    using Floats = typename decltype(width)::Floats;
    std::array<Floats, independent> sums{};
#pragma GCC unroll 12
    for (Floats& sum : sums) sum += unknown;
    const Floats a = Floats{} + unknown, b = Floats{} + unknown;
    for (std::size_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
      for (std::size_t i = 0; i < independent; ++i) sums[i] = sums[i] * a + b;
    }
#pragma GCC unroll 12
    for (Floats& sum : sums) unknown = sum[0];
    unknown = 1;
    *result = 2.0 * turns * independent * (sizeof(Floats) / sizeof(float));
  });
  return operations;
}

#if SEQTRAIN_HAS_CLONES
/// `multiply_floats` for the products of two pairs of bfloat16 numbers.
inline double multiply_pairs_of_bf16() {
  kernels::vectorised([](auto width) SEQTRAIN_INLINE_LAMBDA {
    if constexpr (sizeof(typename decltype(width)::Floats) == 64) {
      using Wide = decltype(width);
      std::array<typename Wide::Floats, independent> sums{};
#pragma GCC unroll 12
      for (auto& sum : sums) sum += unknown;
      const typename Wide::Bits a = typename Wide::Bits{} + static_cast<std::uint32_t>(unknown);
      const typename Wide::Floats b = typename Wide::Floats{} + unknown;
      for (std::size_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
        for (std::size_t i = 0; i < independent; ++i) {
          kernels::instruction::add_bf16_products(sums[i], a, b);
        }
      }
#pragma GCC unroll 12
      for (auto& sum : sums) unknown = sum[0];
      unknown = 1;
    }
  });
  return 2.0 * turns * independent * 32;
}

/// `multiply_floats` for tiles of 16 x 32 and 32 x 16 bfloat16 numbers. Call it only if
/// `model::cpu::has_tiles()`.
inline double multiply_tiles() {
  constexpr std::size_t tile_turns = turns / 20;
  kernels::tile::configure();
  asm volatile("tilezero %tmm0\n tilezero %tmm1\n tilezero %tmm2\n tilezero %tmm3");
  asm volatile("tilezero %tmm4\n tilezero %tmm5");
  for (std::size_t turn = 0; turn < tile_turns; ++turn) {
    asm volatile(
        "tdpbf16ps %tmm5, %tmm4, %tmm0\n tdpbf16ps %tmm5, %tmm4, %tmm1\n"
        "tdpbf16ps %tmm5, %tmm4, %tmm2\n tdpbf16ps %tmm5, %tmm4, %tmm3");
  }
  kernels::tile::release();
  return 2.0 * tile_turns * 4 * 16 * 16 * 32;
}
#endif

/// Returns the function that multiplies numbers of this precision as fast as the processor can.
inline auto fastest_products(model::Precision precision) -> double (*)() {
#if SEQTRAIN_HAS_CLONES
  if (precision == model::Precision::bf16) {
    if (model::cpu::has_tiles()) return multiply_tiles;
    if (kernels::has_bf16_instructions()) return multiply_pairs_of_bf16;
  }
#endif
  return multiply_floats;
}

/// Returns the highest rate of floating-point operations per second in registers alone, on all
/// threads. No program on this machine can be faster.
inline double register_rate(model::Precision precision) {
  const auto multiply = fastest_products(precision);
  double best = 0;
  for (int i = 0; i < 8; ++i) {
    std::vector<double> rates(static_cast<std::size_t>(tensor::threads()));
    std::vector<std::jthread> threads;
    for (double& rate : rates) {
      threads.emplace_back([&rate, multiply] {
        const auto start = std::chrono::steady_clock::now();
        const double operations = multiply();
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        rate = operations / time.count();
      });
    }
    threads.clear();
    double sum = 0;
    for (const double rate : rates) sum += rate;
    best = std::max(best, sum);
  }
  return best;
}

}  // namespace seqtrain::bench
