#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/instructions.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// Ways to multiply and sum words of 32 bits, each four bytes or two bfloat16 numbers.
namespace dot {

/// The words of b as they are, for ways that multiply whole words.
struct WholeWords {
  static constexpr bool is_light = true;  ///< needs no registers except those of the words
  template <class Vector>
  using Words = Vector;

  /// Prepares a vector of words of b for `add`.
  template <class Vector>
  SEQTRAIN_INLINE static void prepare(const Vector& word, Vector& words) {
    words = word;
  }
};

/// Adds the products of four unsigned and four signed bytes to an int32, by one instruction.
struct Bytes : WholeWords {
  template <class Ints>
  SEQTRAIN_INLINE static void add([[maybe_unused]] Ints& sums, [[maybe_unused]] std::uint32_t a,
                                  [[maybe_unused]] const Ints& words) {
#if SEQTRAIN_HAS_CLONES
    const Ints all = Ints{} + static_cast<std::int32_t>(a);
    instruction::add_byte_products(sums, all, words);
#endif
  }
};

/// Adds the products of four unsigned bytes and four signed ones to an int32 by AVX2's instruction
/// for pairs of bytes. Larger bytes would saturate its 16-bit sums.
struct SmallBytes : WholeWords {
  static constexpr std::int32_t most_unsigned = 180;
  static constexpr std::int32_t most_signed = 91;
  static_assert(2 * most_unsigned * most_signed < 1 << 15);

  template <class Ints>
  SEQTRAIN_INLINE static void add([[maybe_unused]] Ints& sums, [[maybe_unused]] std::uint32_t a,
                                  [[maybe_unused]] const Ints& words) {
#if SEQTRAIN_HAS_CLONES
    Ints products = Ints{} + static_cast<std::int32_t>(a);
    instruction::multiply_byte_pairs(products, words);
    instruction::multiply_pairs(products, Ints{} + 0x00010001);
    sums += products;
#endif
  }
};

/// Adds the products of four unsigned and four signed bytes to an int32 on any processor, by 16-bit
/// products, which do not saturate.
struct BytesAsHalves {
  static constexpr bool is_light = false;
  /// The signed bytes of words, widened to 16 bits.
  template <class Ints>
  struct Words {
    Ints even, odd;  ///< two 16-bit numbers a word
  };

  /// Prepares a vector of words of b for `add`.
  template <class Ints>
  SEQTRAIN_INLINE static void prepare(const Ints& word, Words<Ints>& words) {
    using Halves [[gnu::vector_size(sizeof(Ints))]] = std::int16_t;
    words.even = reinterpret_cast<Ints>(reinterpret_cast<Halves>(word << 8) >> 8);
    words.odd = reinterpret_cast<Ints>(reinterpret_cast<Halves>(word) >> 8);
  }
  template <class Ints>
  SEQTRAIN_INLINE static void add(Ints& sums, std::uint32_t a, const Words<Ints>& words) {
    add_pairs(sums, a & 0x00ff00ff, words.even);
    add_pairs(sums, a >> 8 & 0x00ff00ff, words.odd);
  }

 private:
  template <class Ints>
  SEQTRAIN_INLINE static void add_pairs(Ints& sums, std::uint32_t pair, const Ints& words) {
#if SEQTRAIN_HAS_CLONES
    Ints products = Ints{} + static_cast<std::int32_t>(pair);
    instruction::multiply_pairs(products, words);
    sums += products;
#else
    sums += (words << 16 >> 16) * static_cast<std::int32_t>(pair & 0xffff);
    sums += (words >> 16) * static_cast<std::int32_t>(pair >> 16);
#endif
  }
};

/// Adds the products of two pairs of bfloat16 numbers to a float, by one instruction.
struct Bf16Pairs : WholeWords {
  template <class Floats>
  SEQTRAIN_INLINE static void add([[maybe_unused]] Floats& sums, [[maybe_unused]] std::uint32_t a,
                                  [[maybe_unused]] const Floats& words) {
#if SEQTRAIN_HAS_CLONES
    const auto all = typename WidthOf<Floats>::Bits{} + a;
    instruction::add_bf16_products(sums, all, words);
#endif
  }
};

}  // namespace dot

/// The factors of a product in words: a [rows, depth] with rows `ld_a` apart, and b [depth,
/// columns] with rows `ld_b` apart. columns is a multiple of 16.
struct WordFactors {
  const void* a;
  std::size_t ld_a;
  const void* b;
  std::size_t ld_b;
  std::size_t depth;

  /// Returns the factors from this row of a and this column of b on.
  [[nodiscard]] SEQTRAIN_INLINE WordFactors from(std::size_t row, std::size_t column) const {
    return {static_cast<const std::uint32_t*>(a) + row * ld_a, ld_a,
            static_cast<const std::uint32_t*>(b) + column, ld_b, depth};
  }
};

namespace detail {

/// Computes `rows` rows and `parts` vectors of columns, and calls use(row, column, sums) with each
/// vector.
template <class Dot, class Vector, std::size_t rows, std::size_t parts, class Use>
SEQTRAIN_INLINE void dot_tile(const WordFactors& factors, std::size_t row, std::size_t column,
                              const Use& use) {
  constexpr std::size_t width = sizeof(Vector) / 4;
  const auto here = factors.from(row, column);
  const auto* const a = static_cast<const std::uint32_t*>(here.a);
  const auto* b = static_cast<const std::uint32_t*>(here.b);
  Vector sums[rows][parts] = {};
  typename Dot::template Words<Vector> line[parts];
  for (std::size_t j = 0; j < here.depth; ++j, b += here.ld_b) {
#pragma GCC unroll 8
    for (std::size_t part = 0; part < parts; ++part) {
      Vector word;
      std::memcpy(&word, b + part * width, sizeof word);
      Dot::prepare(word, line[part]);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < rows; ++i) {
      std::uint32_t word;
      std::memcpy(&word, a + i * here.ld_a + j, sizeof word);
#pragma GCC unroll 8
      for (std::size_t part = 0; part < parts; ++part) Dot::add(sums[i][part], word, line[part]);
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (std::size_t part = 0; part < parts; ++part) {
      use(row + i, column + part * width, sums[i][part]);
    }
  }
}

/// Computes a tile of `count` rows, at most `rows`.
template <class Dot, class Vector, std::size_t rows, std::size_t parts, class Use>
SEQTRAIN_INLINE void dot_tile_of(std::size_t count, const WordFactors& factors, std::size_t row,
                                 std::size_t column, const Use& use) {
  if (count == rows) return dot_tile<Dot, Vector, rows, parts>(factors, row, column, use);
  if constexpr (rows > 1) {
    dot_tile_of<Dot, Vector, rows - 1, parts>(count, factors, row, column, use);
  }
}

/// Computes the columns from `column` on in tiles of `parts` vectors, the rest in narrower tiles.
/// The number of columns is a multiple of `multiple`.
template <class Dot, class Vector, std::size_t multiple, std::size_t parts, class Use>
SEQTRAIN_INLINE void dot_columns(const WordFactors& factors, std::size_t rows, std::size_t column,
                                 std::size_t columns, const Use& use) {
  // All registers hold sums, except those that the factors need.
  constexpr std::size_t width = sizeof(Vector) / 4;
  constexpr std::size_t height = width == 16 ? (Dot::is_light ? 6 : 4) : width == 8 ? 4 : 2;
  for (; column + parts * width <= columns; column += parts * width) {
    for (std::size_t row = 0; row < rows; row += height) {
      const std::size_t count = rows - row < height ? rows - row : height;
      dot_tile_of<Dot, Vector, height, parts>(count, factors, row, column, use);
    }
  }
  if constexpr (multiple % (parts * width) != 0) {
    dot_columns<Dot, Vector, multiple, parts / 2>(factors, rows, column, columns, use);
  }
}

}  // namespace detail

/// Computes the product [rows, columns] and calls use(row, column, sums) with each vector. columns
/// is a multiple of `multiple`: the larger it is, the fewer kinds of tiles are compiled. The order
/// of a row's additions does not depend on the other rows. Call it inside a function that is
/// compiled for the vectors' instruction set.
template <class Dot, class Vector, std::size_t multiple = lanes, class Use>
SEQTRAIN_INLINE void dot_product(const WordFactors& factors, std::size_t rows, std::size_t columns,
                                 const Use& use) {
  constexpr std::size_t most = sizeof(Vector) / 4 == 16 ? 4 : 2;
  static_assert(multiple % lanes == 0);
  detail::dot_columns<Dot, Vector, multiple, most>(factors, rows, 0, columns, use);
}

}  // namespace seqtrain::kernels
