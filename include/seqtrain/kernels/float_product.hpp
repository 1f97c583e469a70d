#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/pack.hpp>

namespace seqtrain::kernels {

/// Tells whether `multiply_floats` has been measured to be faster than oneDNN's kernels on this
/// processor: if it has AVX2, but no AVX-512.
[[nodiscard]] inline bool has_float_products() {
#if SEQTRAIN_HAS_CLONES
  return detail::has_avx2() && !detail::has_avx512();
#else
  return false;
#endif
}

namespace float_product {

/// Rows of a block of the second factor. A group of its columns stays in the first-level cache, and
/// 64 columns in the second-level cache.
inline constexpr std::size_t depth_of_block = 512;
/// Columns that a tile computes, and that a group has.
inline constexpr std::size_t group = 16;
/// From so many rows of the first factor on, a block is copied into groups before it is read.
inline constexpr std::size_t rows_for_copies = 96;
/// Rows of a tile at most: their sums fill the registers that the factors leave.
inline constexpr std::size_t most_rows = 6;

/// Returns the size of the scratch memory of `multiply_floats`.
template <class T>
[[nodiscard]] constexpr std::size_t scratch(std::size_t rows, std::size_t columns) {
  return (columns + (sizeof(T) == sizeof(float) ? 0 : rows)) * depth_of_block;
}

/// A block of columns of a second factor, with rows that are `ld` apart.
struct Columns {
  const float* from;
  std::size_t ld;
  std::size_t depth;
};

/// Computes `rows` rows and one group of columns.
template <std::size_t width, std::size_t rows>
SEQTRAIN_INLINE void compute_tile(const float* a, std::size_t ld_a, const Columns& columns,
                                  float* c, std::size_t ld_c, bool accumulate) {
  using Floats = typename Width<width>::Floats;
  constexpr std::size_t parts = group / width;
  Floats sums[rows][parts], line[parts];
  // Without these pragmas GCC 12 keeps the sums in memory.
#pragma GCC unroll 8
  for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (std::size_t part = 0; part < parts; ++part) sums[i][part] = Floats{};
  }
  const float* b = columns.from;
  for (std::size_t j = 0; j < columns.depth; ++j, b += columns.ld) {
#pragma GCC unroll 8
    for (std::size_t part = 0; part < parts; ++part) load(b + part * width, line[part]);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < rows; ++i) {
      const float factor = a[i * ld_a + j];
#pragma GCC unroll 8
      for (std::size_t part = 0; part < parts; ++part) sums[i][part] += factor * line[part];
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (std::size_t part = 0; part < parts; ++part) {
      float* const to = c + i * ld_c + part * width;
      Floats before{};
      if (accumulate) load(to, before);
      store(to, before + sums[i][part]);
    }
  }
}

/// Computes a tile of `count` rows, at most `rows`.
template <std::size_t width, std::size_t rows = most_rows>
SEQTRAIN_INLINE void compute_tile_of(std::size_t count, const float* a, std::size_t ld_a,
                                     const Columns& columns, float* c, std::size_t ld_c,
                                     bool accumulate) {
  if (count == rows) return compute_tile<width, rows>(a, ld_a, columns, c, ld_c, accumulate);
  if constexpr (rows > 1) {
    compute_tile_of<width, rows - 1>(count, a, ld_a, columns, c, ld_c, accumulate);
  }
}

/// Computes one group of columns in tiles of almost equal numbers of rows.
template <std::size_t width>
SEQTRAIN_INLINE void compute_group(std::size_t rows, const float* a, std::size_t ld_a,
                                   const Columns& columns, float* c, std::size_t ld_c,
                                   bool accumulate) {
  std::size_t tiles = (rows + most_rows - 1) / most_rows;
  for (std::size_t row = 0; row < rows; --tiles) {
    const std::size_t count = (rows - row + tiles - 1) / tiles;
    compute_tile_of<width>(count, a + row * ld_a, ld_a, columns, c + row * ld_c, ld_c, accumulate);
    row += count;
  }
}

/// Copies a block [depth, columns] of a packed panel to `groups`, one group after another.
template <std::size_t width, class T>
SEQTRAIN_INLINE void copy_groups(const T* block, std::size_t depth, std::size_t columns,
                                 float* groups) {
  using Bits = typename Width<width>::Bits;
  constexpr std::size_t step = interleave<T>;
  typename Width<width>::Floats words;
  for (std::size_t j = 0; j < depth; j += step) {
    for (std::size_t column = 0; column < columns; column += width) {
      std::memcpy(&words, block + j * columns + column * step, sizeof words);
      float* const to = groups + column / group * group * depth + j * group + column % group;
      if constexpr (step == 1) {
        store(to, words);
      } else {
        const auto pairs = reinterpret_cast<Bits>(words);
        store(to, reinterpret_cast<typename Width<width>::Floats>(pairs << 16));
        store(to + group, reinterpret_cast<typename Width<width>::Floats>(pairs & 0xffff0000));
      }
    }
  }
}

}  // namespace float_product

/// Computes c [rows, columns] = (accumulate ? c : 0) + a [rows, k] b in fp32, in which products of
/// bfloat16 numbers are exact. Rows of a and c are `ld_a` and `ld_c` apart, and b [k, columns] is
/// packed as one panel (kernels/pack.hpp). columns is a multiple of 16. `scratch` has
/// `float_product::scratch<T>(rows, columns)` numbers. The order of a row's additions does not
/// depend on the other rows.
template <class T>
void multiply_floats(std::size_t rows, std::size_t k, const T* a, std::size_t ld_a, const T* b,
                     std::size_t columns, float* c, std::size_t ld_c, bool accumulate,
                     float* scratch) {
  using namespace float_product;
  constexpr bool is_wide = sizeof(T) == sizeof(float);
  const bool copies = !is_wide || rows >= rows_for_copies;
  float* const wide_a = scratch + columns * depth_of_block;
  for (std::size_t j = 0; j < k; j += depth_of_block) {
    const std::size_t depth = std::min(depth_of_block, k - j);
    const float* of_rows = wide_a;
    if constexpr (is_wide) {
      of_rows = a + j;
    } else {
      widen(a + j, ld_a, rows, depth, wide_a);
    }
    const std::size_t ld = is_wide ? ld_a : depth;
    vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
      if (copies) copy_groups<width>(b + j * columns, depth, columns, scratch);
      for (std::size_t column = 0; column < columns; column += group) {
        Columns of_group{scratch + column * depth, group, depth};
        if constexpr (is_wide) {
          if (!copies) of_group = {b + j * columns + column, columns, depth};
        }
        compute_group<width>(rows, of_rows, ld, of_group, c + column, ld_c, accumulate || j > 0);
      }
    });
  }
}

}  // namespace seqtrain::kernels
