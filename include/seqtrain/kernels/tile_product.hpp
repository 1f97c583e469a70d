#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/instructions.hpp>

#if SEQTRAIN_HAS_CLONES
/// Products of bfloat16 matrices by the processor's tiles (AMX). A tile has 16 rows of 64 bytes.
/// Call these functions only if `instruction::has_bf16_tiles()` and the system has allowed the
/// process to use tiles, e.g. by `at::cpu::init_amx()`.
namespace seqtrain::kernels::tile {

/// What the tiles of a product hold: `rows` rows of the first factor and of the result, and `pairs`
/// pairs of rows of the second factor. Both numbers are at most 16.
struct Shape {
  std::size_t rows = 16;
  std::size_t pairs = 16;
};

/// Gives this thread's tiles the sizes that `multiply` needs.
inline void configure(const Shape& shape = {}) {
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start = 0;
    std::array<std::uint8_t, 14> reserved{};
    std::array<std::uint16_t, 16> bytes_of_a_row{64, 64, 64, 64, 64, 64, 64, 64};
    std::array<std::uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
  } all;
  std::fill_n(all.rows.begin(), 6, static_cast<std::uint8_t>(shape.rows));
  std::fill_n(all.rows.begin() + 6, 2, static_cast<std::uint8_t>(shape.pairs));
  std::fill_n(all.bytes_of_a_row.begin() + 4, 2, static_cast<std::uint16_t>(4 * shape.pairs));
  asm volatile("ldtilecfg %0" ::"m"(all));
}

/// Puts this thread's tiles into their first state, in which other programs expect them.
inline void release() {
  asm volatile("tilerelease");
}

namespace detail {

// Each function is one instruction. Compilers know no tiles, so the numbers are written out.

template <int number>
SEQTRAIN_INLINE void load(const void* from, std::size_t bytes_apart) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(bytes_apart), "i"(number)
               : "memory");
}
template <int number>
SEQTRAIN_INLINE void store(float* to, std::size_t bytes_apart) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(bytes_apart), "i"(number)
               : "memory");
}
template <int number>
SEQTRAIN_INLINE void clear() {
  asm volatile("tilezero %%tmm%c0" ::"i"(number));
}
/// Adds the product of two tiles to a third.
template <int sum, int a, int b>
SEQTRAIN_INLINE void add_product() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(a), "i"(b));
}

/// Where a product's numbers are. Rows are `ld` numbers apart; `b` is a packed panel with `columns`
/// columns.
struct Factors {
  const Bf16* a;
  std::size_t ld_a;
  const Bf16* b;
  std::size_t columns;
  float* c;
  std::size_t ld_c;
  bool accumulate;
};

/// Computes one or two tiles of rows, `shape.rows` each, and one or two of columns, 16 each. The
/// sums run over `steps` times `2 * shape.pairs` columns of a.
template <std::size_t down, std::size_t across>
SEQTRAIN_INLINE void block(const Factors& f, std::size_t steps) {
  const std::size_t of_a = f.ld_a * sizeof(Bf16), of_b = 2 * f.columns * sizeof(Bf16);
  const std::size_t of_c = f.ld_c * sizeof(float);
  float* const below = f.c + 16 * f.ld_c;
  if (f.accumulate) {
    load<0>(f.c, of_c);
    if constexpr (across > 1) load<1>(f.c + 16, of_c);
    if constexpr (down > 1) load<2>(below, of_c);
    if constexpr (down > 1 && across > 1) load<3>(below + 16, of_c);
  } else {
    clear<0>();
    if constexpr (across > 1) clear<1>();
    if constexpr (down > 1) clear<2>();
    if constexpr (down > 1 && across > 1) clear<3>();
  }
  const Bf16* a = f.a;
  const Bf16* b = f.b;
  for (std::size_t step = 0; step < steps; ++step, a += 32, b += 32 * f.columns) {
    load<6>(b, of_b);
    load<4>(a, of_a);
    add_product<0, 4, 6>();
    if constexpr (across > 1) load<7>(b + 32, of_b);
    if constexpr (across > 1) add_product<1, 4, 7>();
    if constexpr (down > 1) load<5>(a + 16 * f.ld_a, of_a);
    if constexpr (down > 1) add_product<2, 5, 6>();
    if constexpr (down > 1 && across > 1) add_product<3, 5, 7>();
  }
  store<0>(f.c, of_c);
  if constexpr (across > 1) store<1>(f.c + 16, of_c);
  if constexpr (down > 1) store<2>(below, of_c);
  if constexpr (down > 1 && across > 1) store<3>(below + 16, of_c);
}

/// Computes all columns of `tiles` tiles of rows.
inline void blocks(const Factors& all, std::size_t tiles, std::size_t steps) {
  for (std::size_t column = 0; column < all.columns; column += 32) {
    const bool both = column + 16 < all.columns;
    Factors f = all;
    f.b += 2 * column;
    f.c += column;
    for (std::size_t tile = 0; tile < tiles; tile += 2) {
      const bool one = tile + 1 == tiles;
      if (both) {
        one ? block<1, 2>(f, steps) : block<2, 2>(f, steps);
      } else {
        one ? block<1, 1>(f, steps) : block<2, 1>(f, steps);
      }
      f.a += 32 * f.ld_a;
      f.c += 32 * f.ld_c;
    }
  }
}

/// Computes some rows of the product: `tiles` times `rows`. A last step with fewer columns of a has
/// tiles of its own.
inline void of_rows(Factors f, std::size_t rows, std::size_t tiles, std::size_t k) {
  const std::size_t steps = k / 32, rest = k % 32;
  if (rows < 16) configure({.rows = rows});
  if (steps > 0) {
    blocks(f, tiles, steps);
    f.accumulate = true;
  }
  if (rest > 0) {
    f.a += 32 * steps;
    f.b += 32 * steps * f.columns;
    configure({rows, rest / 2});
    blocks(f, tiles, 1);
  }
  if (rows < 16 || rest > 0) configure();
}

}  // namespace detail

/// Computes c [m, columns] = (accumulate ? c : 0) + a [m, k] b, on a thread whose tiles are
/// configured. Rows of a and c are `ld_a` and `ld_c` apart, and b [k, columns] is packed as one
/// panel (kernels/pack.hpp), so k is even and columns a multiple of 16. Each element is summed over
/// k from the first to the last, so that its bits do not depend on m.
inline void multiply(std::size_t m, std::size_t k, const Bf16* a, std::size_t ld_a, const Bf16* b,
                     std::size_t columns, float* c, std::size_t ld_c, bool accumulate) {
  const std::size_t tiles = m / 16, rest = m % 16;
  if (tiles > 0) detail::of_rows({a, ld_a, b, columns, c, ld_c, accumulate}, 16, tiles, k);
  if (rest == 0) return;
  const std::size_t row = 16 * tiles;
  detail::of_rows({a + row * ld_a, ld_a, b, columns, c + row * ld_c, ld_c, accumulate}, rest, 1, k);
}

}  // namespace seqtrain::kernels::tile
#endif
