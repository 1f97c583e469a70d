#pragma once

#include <cstddef>

#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// A small matrix whose element (i, j) is from[i * row + j * column], so that a transpose costs
/// nothing.
struct SmallFactor {
  const float* from;
  std::size_t row;
  std::size_t column;
};

/// Computes `rows` rows and `blocks` times 16 columns of the product in `small_product`.
template <std::size_t width, std::size_t rows, std::size_t blocks>
SEQTRAIN_INLINE void product_tile(const SmallFactor& a, const float* b, std::size_t ld_b, float* c,
                                  std::size_t ld_c, std::size_t k) {
  constexpr std::size_t parts = blocks * lanes / width;
  using Floats = typename Width<width>::Floats;
  Floats line[parts], sums[rows][parts];
  // Without these pragmas GCC 12 keeps the sums in memory.
#pragma GCC unroll 8
  for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (std::size_t part = 0; part < parts; ++part) sums[i][part] = Floats{};
  }
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t part = 0; part < parts; ++part) load(b + j * ld_b + part * width, line[part]);
    for (std::size_t i = 0; i < rows; ++i) {
      const float factor = a.from[i * a.row + j * a.column];
      for (std::size_t part = 0; part < parts; ++part) sums[i][part] += factor * line[part];
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (std::size_t part = 0; part < parts; ++part) {
      store(c + i * ld_c + part * width, sums[i][part]);
    }
  }
}

/// Computes a tile of m rows of the product in `small_product`, with m at most `height`.
template <std::size_t width, std::size_t height, std::size_t blocks>
SEQTRAIN_INLINE void product_tile_of(std::size_t m, const SmallFactor& a, const float* b,
                                     std::size_t ld_b, float* c, std::size_t ld_c, std::size_t k) {
  if (m == height) return product_tile<width, height, blocks>(a, b, ld_b, c, ld_c, k);
  if constexpr (height > 1) product_tile_of<width, height - 1, blocks>(m, a, b, ld_b, c, ld_c, k);
}

/// Computes c [m, n] = a b with b [k, n], for factors as small as those of one attention head. n
/// and the strides of b and c must be multiples of 16.
inline void small_product(const SmallFactor& a, const float* b, std::size_t ld_b, float* c,
                          std::size_t ld_c, std::size_t m, std::size_t n, std::size_t k) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    // All registers hold sums, except those that the factors need.
    constexpr std::size_t height = width == 16 ? 8 : width == 8 ? 6 : 3;
    constexpr std::size_t blocks = width == 16 ? 2 : 1;
    for (std::size_t row = 0; row < m; row += height) {
      const std::size_t rows = m - row < height ? m - row : height;
      const SmallFactor from{a.from + row * a.row, a.row, a.column};
      float* const to = c + row * ld_c;
      std::size_t column = 0;
      for (; column + blocks * lanes <= n; column += blocks * lanes) {
        product_tile_of<width, height, blocks>(rows, from, b + column, ld_b, to + column, ld_c, k);
      }
      for (; column < n; column += lanes) {
        product_tile_of<width, height, 1>(rows, from, b + column, ld_b, to + column, ld_c, k);
      }
    }
  });
}

}  // namespace seqtrain::kernels
