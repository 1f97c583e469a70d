#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <seqtrain/kernels/ahead.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/dot_tiles.hpp>
#include <seqtrain/kernels/instructions.hpp>

#if SEQTRAIN_HAS_CLONES
/// Products of matrices of bfloat16 or int8 numbers by the processor's tiles (AMX). A tile has 16
/// rows of 16 words, each two bfloat16 numbers or four bytes. Call these functions only if
/// `instruction::has_tiles()` and the system has allowed the process to use tiles, e.g. by
/// `at::cpu::init_amx()`.
namespace seqtrain::kernels::tile {

namespace detail {

/// True if this thread's tiles are configured.
inline thread_local bool configured = false;

}  // namespace detail

/// Gives this thread's tiles the sizes that `multiply` needs: `rows` rows of the first factor and
/// of the result, and as many words of the first factor's rows as `words`. Both are at most 16.
inline void configure(std::size_t rows = 16, std::size_t words = 16) {
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start = 0;
    std::array<std::uint8_t, 14> reserved{};
    std::array<std::uint16_t, 16> bytes_of_a_row{64, 64, 64, 64, 64, 64, 64, 64};
    std::array<std::uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
  } all;
  std::fill_n(all.rows.begin(), 6, static_cast<std::uint8_t>(rows));
  std::fill_n(all.rows.begin() + 6, 2, static_cast<std::uint8_t>(words));
  std::fill_n(all.bytes_of_a_row.begin() + 4, 2, static_cast<std::uint16_t>(4 * words));
  asm volatile("ldtilecfg %0" ::"m"(all));
  detail::configured = true;
}

/// Puts this thread's tiles into their first state, in which other libraries expect them, if they
/// are configured.
inline void release() {
  if (detail::configured) asm volatile("tilerelease");
  detail::configured = false;
}

namespace detail {

// Each function is one instruction. Compilers know no tiles, so the numbers are written out.

template <int number>
SEQTRAIN_INLINE void load(const std::byte* from, std::size_t ld) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(ld), "i"(number) : "memory");
}
template <int number>
SEQTRAIN_INLINE void store(std::byte* to, std::size_t ld) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(ld), "i"(number) : "memory");
}
template <int number>
SEQTRAIN_INLINE void clear() {
  asm volatile("tilezero %%tmm%c0" ::"i"(number));
}
/// Adds the product of two tiles to a third.
template <class Words, int sum, int a, int b>
SEQTRAIN_INLINE void add_product() {
  if constexpr (std::is_same_v<Words, dot::Bytes>) {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(a), "i"(b));
  } else {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(a), "i"(b));
  }
}

/// The addresses of the factors and of the result of a product c = a b. Rows of a and c are `ld_a`
/// and `ld_c` bytes apart; b is packed as one panel with `columns` words in a row.
struct Factors {
  const std::byte* a;
  std::size_t ld_a;
  const std::byte* b;
  std::size_t columns;
  std::byte* c;
  std::size_t ld_c;
  bool accumulate;
};

/// Computes one or two tiles of rows and one or two of columns. The sums run over `steps` tiles,
/// each of which is a step of `fetching`.
template <class Words, std::size_t down, std::size_t across>
SEQTRAIN_INLINE void block(const Factors& f, std::size_t steps, Fetching& fetching) {
  constexpr bool right = across > 1, below = down > 1;
  const std::size_t ld_b = 4 * f.columns;
  const auto each_sum = [&](auto use) SEQTRAIN_INLINE_LAMBDA {
    use.template operator()<0>(f.c);
    if constexpr (right) use.template operator()<1>(f.c + 64);
    if constexpr (below) use.template operator()<2>(f.c + 16 * f.ld_c);
    if constexpr (right && below) use.template operator()<3>(f.c + 16 * f.ld_c + 64);
  };
  each_sum([&]<int number>(const std::byte* from) SEQTRAIN_INLINE_LAMBDA {
    f.accumulate ? load<number>(from, f.ld_c) : clear<number>();
  });
  const std::byte* a = f.a;
  const std::byte* b = f.b;
  for (std::size_t step = 0; step < steps; ++step, a += 64, b += 16 * ld_b) {
    fetching.step();
    load<6>(b, ld_b);
    load<4>(a, f.ld_a);
    add_product<Words, 0, 4, 6>();
    if constexpr (right) load<7>(b + 64, ld_b);
    if constexpr (right) add_product<Words, 1, 4, 7>();
    if constexpr (below) load<5>(a + 16 * f.ld_a, f.ld_a);
    if constexpr (below) add_product<Words, 2, 5, 6>();
    if constexpr (right && below) add_product<Words, 3, 5, 7>();
  }
  each_sum([&]<int number>(std::byte* to) SEQTRAIN_INLINE_LAMBDA { store<number>(to, f.ld_c); });
}

/// Computes all columns of `tiles` tiles of rows, and fetches what is ahead.
template <class Words>
void blocks(const Factors& all, std::size_t tiles, std::size_t steps, const Ahead& ahead) {
  Fetching fetching{ahead, (all.columns + 31) / 32 * ((tiles + 1) / 2) * steps};
  for (std::size_t column = 0; column < all.columns; column += 32) {
    const bool both = column + 16 < all.columns;
    Factors f = all;
    f.b += 4 * column;
    f.c += 4 * column;
    for (std::size_t tile = 0; tile < tiles; tile += 2) {
      if (tile + 1 == tiles) {
        both ? block<Words, 1, 2>(f, steps, fetching) : block<Words, 1, 1>(f, steps, fetching);
      } else {
        both ? block<Words, 2, 2>(f, steps, fetching) : block<Words, 2, 1>(f, steps, fetching);
      }
      f.a += 32 * f.ld_a;
      f.c += 32 * f.ld_c;
    }
  }
}

/// Computes `tiles` times `rows` rows of the product. If the last words of a row fill no tile, they
/// have tiles of their own.
template <class Words>
void multiply_rows(Factors f, std::size_t rows, std::size_t tiles, std::size_t words,
                   const Ahead& ahead) {
  const std::size_t steps = words / 16, rest = words % 16;
  if (rows < 16) configure(rows);
  if (steps > 0) {
    blocks<Words>(f, tiles, steps, ahead);
    f.accumulate = true;
  }
  if (rest > 0) {
    f.a += 64 * steps;
    f.b += 64 * steps * f.columns;
    configure(rows, rest);
    blocks<Words>(f, tiles, 1, {});
  }
  if (rows < 16 || rest > 0) configure();
}

template <class Words>
void multiply(std::size_t m, std::size_t words, Factors f, const Ahead& ahead) {
  if (!configured) configure();
  const std::size_t tiles = m / 16, rest = m % 16;
  if (tiles > 0) multiply_rows<Words>(f, 16, tiles, words, ahead);
  if (rest == 0) return;
  f.a += 16 * tiles * f.ld_a;
  f.c += 16 * tiles * f.ld_c;
  multiply_rows<Words>(f, rest, 1, words, tiles > 0 ? Ahead{} : ahead);
}

}  // namespace detail

/// Computes c [m, columns] = (accumulate ? c : 0) + a [m, k] b. Rows of a and c are `ld_a` and
/// `ld_c` numbers apart, and b [k, columns] is packed as one panel (kernels/pack.hpp), so k is even
/// and columns a multiple of 16. Each element is summed over k from the first to the last, so that
/// its bits do not depend on m. Meanwhile it fetches what is ahead: the numbers come from farther
/// away than tiles wait for. The thread's tiles stay configured until `release`.
inline void multiply(std::size_t m, std::size_t k, const Bf16* a, std::size_t ld_a, const Bf16* b,
                     std::size_t columns, float* c, std::size_t ld_c, bool accumulate,
                     const Ahead& ahead = {}) {
  detail::multiply<dot::Bf16Pairs>(
      m, k / 2,
      {reinterpret_cast<const std::byte*>(a), ld_a * sizeof(Bf16),
       reinterpret_cast<const std::byte*>(b), columns, reinterpret_cast<std::byte*>(c),
       ld_c * sizeof(float), accumulate},
      ahead);
}

/// Computes c [m, columns] = a [m, k] b likewise, of bytes: b is packed as [k / 4][columns][4], and
/// k is a multiple of 4. The sums are exact.
inline void multiply(std::size_t m, std::size_t k, const std::uint8_t* a, const std::int8_t* b,
                     std::size_t columns, std::int32_t* c, const Ahead& ahead = {}) {
  detail::multiply<dot::Bytes>(
      m, k / 4,
      {reinterpret_cast<const std::byte*>(a), k, reinterpret_cast<const std::byte*>(b), columns,
       reinterpret_cast<std::byte*>(c), columns * sizeof(std::int32_t), false},
      ahead);
}

}  // namespace seqtrain::kernels::tile
#endif
