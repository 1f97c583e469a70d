#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// The factors of one step of Adam or AdamW, which torch computes from their options and the number
/// of steps so far.
struct AdamFactors {
  float gradient = 1;     ///< factor of the gradients
  float added_value = 0;  ///< coupled weight decay: value times this is added to the gradient
  float kept_value = 1;   ///< decoupled weight decay: the value is multiplied by this
  float new_part1 = 1;    ///< 1 - beta1: the gradient's part of the first moment
  float beta2 = 0;        ///< the part of the second moment that is kept
  float new_part2 = 1;    ///< 1 - beta2, rounded separately
  float step_size = 0;    ///< learning rate / (1 - beta1^t)
  float root_factor = 1;  ///< 1 / sqrt(1 - beta2^t)
  float eps = 0;
};

/// The values, gradients and moments of a part of a parameter.
struct AdamRows {
  float* value;
  float* gradient;  ///< null if all are zero
  float* exp_avg;
  float* exp_avg_sq;

  /// Returns the numbers from `i` on.
  [[nodiscard]] AdamRows from(std::size_t i) const {
    return {value + i, gradient == nullptr ? nullptr : gradient + i, exp_avg + i, exp_avg_sq + i};
  }
};

/// Floats of one byte: a sign if `is_signed`, an exponent, and three bits of mantissa. Exponents
/// are relative to `top`, the exponent of the largest magnitude of a block. A number keeps its
/// value under any top that it fits, so numbers that do not change do not drift.
template <bool is_signed>
class ByteFloats {
 public:
  explicit constexpr ByteFloats(std::uint8_t top)
      : zero_{std::max(top - static_cast<int>(magnitudes >> 3), 1) << 23} {}

  /// Returns the top of a block with this largest magnitude, which may be rounded up.
  [[nodiscard]] static constexpr std::uint8_t top_of(float largest) {
    return static_cast<std::uint8_t>((std::bit_cast<std::uint32_t>(largest) + 0xfffff) >> 23);
  }

  /// Reads the lowest byte of each lane.
  template <class Bits, class Floats>
  SEQTRAIN_INLINE void decode(const Bits& codes, Floats& to) const {
    const Bits magnitude = codes & magnitudes;
    Bits bits = (magnitude << 20) + static_cast<std::uint32_t>(zero_);
    bits = magnitude == 0 ? Bits{} : bits;
    if constexpr (is_signed) bits |= (codes & 0x80) << 24;
    to = reinterpret_cast<Floats>(bits);
  }

  /// Rounds to one of the two nearest numbers, so that the mean over all `random`, which are below
  /// 2^20, is the number itself. A number below the smallest magnitude becomes zero or that
  /// magnitude if it has a sign, more often zero than the mean would need; otherwise it becomes
  /// that magnitude. What is too large, or NaN, becomes the largest magnitude.
  template <class Floats, class Bits>
  SEQTRAIN_INLINE void encode(const Floats& from, const Bits& random, Bits& codes) const {
    using Ints = typename WidthOf<Floats>::Ints;
    const auto bits = reinterpret_cast<Bits>(from);
    const Ints rounded = (reinterpret_cast<Ints>((bits & 0x7fffffff) + random) - zero_) >> 20;
    const Ints least = is_signed ? Ints{} : -reinterpret_cast<Ints>(from > 0);
    const Ints most = Ints{} + static_cast<std::int32_t>(magnitudes);
    const Ints at_most = rounded < most ? rounded : most;
    codes = reinterpret_cast<Bits>(at_most > least ? at_most : least);
    if constexpr (is_signed) codes |= bits >> 31 << 7;
  }

 private:
  static constexpr std::uint32_t magnitudes = is_signed ? 0x7f : 0xff;
  std::int32_t zero_;  ///< the bits of the float that code 0 would be if it were not zero
};

using ByteMoments = ByteFloats<true>;  ///< Adam's first moments
using ByteRoots = ByteFloats<false>;   ///< the roots of the second moments, which have their range

/// The numbers of a block of moments. Word i of the block holds the bytes of the numbers i, i + 16,
/// i + 32 and i + 48, which vectors of any width separate by shifts. The block's top follows.
inline constexpr std::size_t byte_block = 64;

/// The values, gradients and moments of a part of a parameter that begins with a block.
struct AdamBytes {
  float* value;
  float* gradient;
  std::uint8_t* exp_avg;
  std::uint8_t* root;

  /// Returns the numbers from `i` on, the first of a block.
  [[nodiscard]] AdamBytes from(std::size_t i) const {
    const std::size_t byte = i / byte_block * (byte_block + 1);
    return {value + i, gradient + i, exp_avg + byte, root + byte};
  }
};

namespace detail {

/// Updates one vector of values and moments, and sets `root` to the second moment's root.
template <class Floats>
SEQTRAIN_INLINE void advance(const AdamFactors& f, const Floats& gradient, Floats& value, Floats& m,
                             Floats& v, Floats& root) {
  const Floats g = gradient * f.gradient + value * f.added_value;
  m = m + (g - m) * f.new_part1;
  v = v * f.beta2 + g * g * f.new_part2;
  root = v;
  square_root(root);
  value = value * f.kept_value - f.step_size * m / (root * f.root_factor + f.eps);
}

/// Updates one vector of numbers and sets their gradients to zero.
template <class Floats>
SEQTRAIN_INLINE void update(const AdamFactors& f, const AdamRows& rows) {
  Floats value, g{}, m, v, root;
  load(rows.value, value);
  if (rows.gradient != nullptr) load(rows.gradient, g);
  load(rows.exp_avg, m);
  load(rows.exp_avg_sq, v);
  advance(f, g, value, m, v, root);
  store(rows.value, value);
  if (rows.gradient != nullptr) store(rows.gradient, Floats{});
  store(rows.exp_avg, m);
  store(rows.exp_avg_sq, v);
}

/// Updates one block. Two numbers share 32 random bits, and the moments of one number 20 of them.
template <class Floats>
SEQTRAIN_INLINE void update(const AdamFactors& f, const RandomBits& random, std::size_t index,
                            const AdamBytes& bytes) {
  using Bits = typename WidthOf<Floats>::Bits;
  constexpr std::size_t width = width_of<Floats>, words = byte_block / 4;
  Floats ms[byte_block / width], roots[byte_block / width], largest_m{}, largest_root{};
  Bits m_codes, root_codes, m_code, root_code, bits{};
  const ByteMoments old_m{bytes.exp_avg[byte_block]};
  const ByteRoots old_root{bytes.root[byte_block]};
  for (std::size_t word = 0, n = 0; word < words; word += width) {
    std::memcpy(&m_codes, bytes.exp_avg + 4 * word, sizeof m_codes);
    std::memcpy(&root_codes, bytes.root + 4 * word, sizeof root_codes);
    for (std::size_t i = word; i < byte_block; i += words, ++n) {
      Floats value, g, m, root;
      load(bytes.value + i, value);
      load(bytes.gradient + i, g);
      old_m.decode(m_codes, m);
      old_root.decode(root_codes, root);
      m_codes >>= 8;
      root_codes >>= 8;
      Floats v = root * root;
      advance(f, g, value, m, v, root);
      store(bytes.value + i, value);
      store(bytes.gradient + i, Floats{});
      const Floats size = m < 0 ? -m : m;
      largest_m = size > largest_m ? size : largest_m;
      largest_root = root > largest_root ? root : largest_root;
      ms[n] = m;
      roots[n] = root;
    }
  }
  const ByteMoments new_m{bytes.exp_avg[byte_block] = ByteMoments::top_of(largest(largest_m))};
  const ByteRoots new_root{bytes.root[byte_block] = ByteRoots::top_of(largest(largest_root))};
  for (std::size_t word = 0, n = 0; word < words; word += width) {
    m_codes = root_codes = Bits{};
    for (std::size_t k = 0; k < 4; ++k, ++n) {
      const std::size_t i = word + k * words;
      __builtin_prefetch(bytes.value + 8 * byte_block + i);
      __builtin_prefetch(bytes.gradient + 8 * byte_block + i);
      if (k % 2 == 0) random.at(static_cast<std::uint32_t>(index + i), bits);
      new_m.encode(ms[n], bits >> 12, m_code);
      new_root.encode(roots[n], bits >> 12, root_code);
      bits <<= 12;  // to the other number's
      m_codes |= m_code << (8 * k);
      root_codes |= root_code << (8 * k);
    }
    std::memcpy(bytes.exp_avg + 4 * word, &m_codes, sizeof m_codes);
    std::memcpy(bytes.root + 4 * word, &root_codes, sizeof root_codes);
  }
}

}  // namespace detail

/// Updates `count` numbers by Adam and sets their gradients to zero.
inline void adam(AdamFactors factors, AdamRows rows, std::size_t count) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    using Floats = typename Width<width>::Floats;
    std::size_t i = 0;
    const AdamFactors f = factors;  // clang reads what a lambda holds again in each iteration
    const AdamRows r = rows;
    for (; i + width <= count; i += width) detail::update<Floats>(f, r.from(i));
    if (i == count) return;
    float parts[4][width] = {};
    float* const from[4] = {rows.value + i, rows.exp_avg + i, rows.exp_avg_sq + i,
                            rows.gradient == nullptr ? nullptr : rows.gradient + i};
    for (std::size_t k = 0; k < 4; ++k) {
      if (from[k] != nullptr) std::copy_n(from[k], count - i, parts[k]);
    }
    detail::update<Floats>(factors, {parts[0], parts[3], parts[1], parts[2]});
    for (std::size_t k = 0; k < 4; ++k) {
      if (from[k] != nullptr) std::copy_n(parts[k], count - i, from[k]);
    }
  });
}

/// Updates the blocks from number `begin` to number `end` - 1 of a parameter by Adam, and sets the
/// gradients to zero. The moments are rounded by random bits.
inline void adam(AdamFactors factors, RandomBits random, AdamBytes bytes, std::size_t begin,
                 std::size_t end) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    const AdamFactors f = factors;  // clang reads what a lambda holds again in each iteration
    const RandomBits r = random;
    for (std::size_t i = begin; i < end; i += byte_block) {
      detail::update<typename Width<width>::Floats>(f, r, i, bytes.from(i));
    }
  });
}

/// Returns the sum of the squares of `count` numbers, whose squares may be beyond a float.
inline double sum_of_squares(const float* values, std::size_t count) {
  double result = 0;
  double* const to = &result;
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    using Floats = typename Width<width>::Floats;
    constexpr std::size_t block = 1'024;  // few enough for sums in float
    for (std::size_t first = 0; first < count; first += block) {
      const std::size_t end = std::min(count, first + block);
      Floats sums{}, one;
      std::size_t i = first;
      for (; i + width <= end; i += width) {
        load(values + i, one);
        sums += one * one;
      }
      const float most = sum(sums);
      if (most <= std::numeric_limits<float>::max()) {
        *to += static_cast<double>(most);
      } else {
        i = first;
      }
      for (; i < end; ++i) *to += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
  });
  return result;
}

}  // namespace seqtrain::kernels
