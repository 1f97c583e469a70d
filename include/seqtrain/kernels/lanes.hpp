#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/instructions.hpp>

namespace seqtrain::kernels {

/// The number of floats in the widest registers. The lengths of rows are multiples of it.
inline constexpr std::size_t lanes = 16;

/// Returns `count` rounded up to a multiple of `unit`.
[[nodiscard]] constexpr std::size_t round_up(std::size_t count, std::size_t unit) {
  return (count + unit - 1) / unit * unit;
}
/// Returns `n` rounded up to a multiple of `lanes`.
[[nodiscard]] constexpr std::size_t round_to_lanes(std::size_t n) {
  return round_up(n, lanes);
}

/// The number of floats in a vector.
template <class Floats>
inline constexpr std::size_t width_of = sizeof(Floats) / sizeof(float);
/// The vectors that have as many elements as a vector of floats.
template <class Floats>
using WidthOf = Width<width_of<Floats>>;

/// Reads a vector of floats. The address may be unaligned.
template <class Floats>
SEQTRAIN_INLINE void load(const float* from, Floats& to) {
  std::memcpy(&to, from, sizeof to);
}

/// Reads a vector of bfloat16 numbers and widens them to floats.
template <class Floats>
SEQTRAIN_INLINE void load(const Bf16* from, Floats& to) {
  typename WidthOf<Floats>::Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  using Bits = typename WidthOf<Floats>::Bits;
  to = reinterpret_cast<Floats>(__builtin_convertvector(halves, Bits) << 16);
}

/// Writes a vector of floats. The address may be unaligned.
template <class Floats>
SEQTRAIN_INLINE void store(float* to, const Floats& from) {
  std::memcpy(to, &from, sizeof from);
}

/// Rounds as `to_bf16` does. The results are the upper halves of the words; the lower halves have
/// no meaning.
template <class Floats>
SEQTRAIN_INLINE void round_to_bf16(const Floats& from, typename WidthOf<Floats>::Bits& to) {
  using Bits = typename WidthOf<Floats>::Bits;
  const auto bits = reinterpret_cast<Bits>(from);
  const Bits rounded = bits + 0x7fff + ((bits >> 16) & 1);
  to = (bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : rounded;
}

/// Rounds as `to_bf16` does, on any processor.
template <class Floats>
SEQTRAIN_INLINE void store_rounded(Bf16* to, const Floats& from) {
  typename WidthOf<Floats>::Bits rounded;
  round_to_bf16(from, rounded);
  const auto halves = __builtin_convertvector(rounded >> 16, typename WidthOf<Floats>::Halves);
  std::memcpy(to, &halves, sizeof halves);
}

/// Rounds as `to_bf16` does, but turns subnormal numbers into 0, if the processor has an
/// instruction for it. Otherwise returns false.
template <class Floats>
SEQTRAIN_INLINE bool round_by_instruction([[maybe_unused]] const Floats& from,
                                          [[maybe_unused]] typename WidthOf<Floats>::Halves& to) {
#if SEQTRAIN_HAS_CLONES
  if constexpr (width_of<Floats> == 16) {
    if (has_bf16_instructions()) {
      instruction::round_to_bf16(from, to);
      return true;
    }
  }
#endif
  return false;
}

/// Rounds as `to_bf16` does, but a processor with an instruction for it turns subnormal numbers
/// into 0.
template <class Floats>
SEQTRAIN_INLINE void store(Bf16* to, const Floats& from) {
  typename WidthOf<Floats>::Halves halves;
  if (round_by_instruction(from, halves)) {
    std::memcpy(to, &halves, sizeof halves);
  } else {
    store_rounded(to, from);
  }
}

/// The place of a vector in a matrix.
template <std::size_t width>
struct Place : Width<width> {
  std::size_t row;
  std::size_t column;  ///< the column of the vector's first number

  /// Returns the vector's address in a matrix whose rows are `ld` numbers apart.
  template <class T>
  SEQTRAIN_INLINE T* in(T* matrix, std::size_t ld) const {
    return matrix + row * ld + column;
  }
};

/// Calls use(place) for each vector of a matrix [rows, columns], compiled as by `vectorised`, with
/// the same demands on `use`. columns is a multiple of 16.
template <class Use>
void for_each_vector(std::size_t rows, std::size_t columns, Use use) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; column += width) {
        use(Place<width>{{}, row, column});
      }
    }
  });
}

/// Returns a vector with element i equal to i.
template <class Vector>
SEQTRAIN_INLINE void count_up(Vector& to) {
  using Number = std::remove_cvref_t<decltype(to[0])>;
  static constexpr Number counts[]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  std::memcpy(&to, counts, sizeof to);
}

/// Combines all lanes. It calls combine(values, others), where `others` has lanes `distance` apart
/// exchanged, then again with half of that distance, down to neighbours. Each lane of the result
/// holds the combination of all lanes.
template <std::size_t distance, class Floats, class Combine>
SEQTRAIN_INLINE void fold(Floats& values, const Combine& combine) {
  if constexpr (distance > 0) {
    Floats others;
    [&]<std::size_t... i>(std::index_sequence<i...>) SEQTRAIN_INLINE_LAMBDA {
      others = __builtin_shufflevector(values, values, (i ^ distance)...);
    }
    (std::make_index_sequence<width_of<Floats>>{});
    combine(values, others);
    fold<distance / 2>(values, combine);
  }
}

/// Returns the sum of all lanes. It adds halves first.
template <class Floats>
SEQTRAIN_INLINE float sum(const Floats& values) {
  Floats total = values;
  fold<width_of<Floats> / 2>(total,
                             [](Floats& a, const Floats& b) SEQTRAIN_INLINE_LAMBDA { a += b; });
  return total[0];
}

/// Returns the greatest element of a vector.
template <class Floats>
SEQTRAIN_INLINE float largest(const Floats& values) {
  Floats peaks = values;
  fold<width_of<Floats> / 2>(
      peaks, [](Floats& a, const Floats& b) SEQTRAIN_INLINE_LAMBDA { a = a > b ? a : b; });
  return peaks[0];
}

/// Returns the correctly rounded square root of each lane.
template <class Floats>
SEQTRAIN_INLINE void square_root(Floats& x) {
#if SEQTRAIN_HAS_CLONES
  // The compiler's function would test each number for being negative, to set errno.
  instruction::square_root(x);
#else
  for (std::size_t i = 0; i < width_of<Floats>; ++i) x[i] = std::sqrt(x[i]);
#endif
}

/// Returns e^x of each lane with an error of at most 2 units in the last place for -87 <= x <= 88,
/// and 0 below. It uses x = n ln 2 + r with |r| <= ln 2 / 2, and the Taylor polynomial of e^r.
template <class Floats>
SEQTRAIN_INLINE void exponentiate(Floats& x) {
  using Ints = typename WidthOf<Floats>::Ints;
  constexpr float round = 12582912.0F;  // 1.5 * 2^23: adding it leaves an integer
  const Floats low = x < -87.0F ? Floats{} - 87.0F : x;
  const Floats clamped = low > 88.0F ? Floats{} + 88.0F : low;
  const Floats n = (clamped * 1.44269504F + round) - round;
  const Floats r = (clamped - n * 0.693359375F) + n * 2.12194440e-4F;
  const Floats p =
      1 +
      r * (1 + r * (0.5F + r * (1.0F / 6 + r * (1.0F / 24 + r * (1.0F / 120 + r * (1.0F / 720))))));
  const Ints power = (__builtin_convertvector(n, Ints) + 127) << 23;
  x = x < -87.0F ? Floats{} : p * reinterpret_cast<Floats>(power);
}

}  // namespace seqtrain::kernels
