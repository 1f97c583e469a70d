#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

namespace detail {

/// Adds to each sum the products of one vector of a row and one of `weights`.
template <std::size_t rows, class Floats>
SEQTRAIN_INLINE void add_products(const std::array<const float*, rows>& x, const float* weights,
                                  Floats* sums) {
  Floats w, part;
  load(weights, w);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < rows; ++i) {
    load(x[i], part);
    sums[i] += part * w;
  }
}

}  // namespace detail

/// Computes y [rows, results] = x [rows, inputs] weightsᵀ + bias, where weights are [results,
/// inputs] and the bias may be null. The bits of an element depend on its row of x and its row of
/// the weights alone, which no library's product promises.
inline void row_products(const float* x, std::size_t rows, std::size_t inputs, const float* weights,
                         const float* bias, std::size_t results, float* y) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    constexpr std::size_t at_once = 4;
    using Floats = typename Width<width>::Floats;
    const std::size_t whole = inputs / width * width;
    for (std::size_t first = 0; first < rows; first += at_once) {
      const std::size_t count = std::min(at_once, rows - first);
      for (std::size_t result = 0; result < results; ++result) {
        const float* const w = weights + result * inputs;
        std::array<const float*, at_once> from;
        for (std::size_t i = 0; i < at_once; ++i) {
          from[i] = x + (first + std::min(i, count - 1)) * inputs;  // the last row fills the others
        }
        Floats sums[at_once] = {};
        for (std::size_t j = 0; j < whole; j += width) {
          detail::add_products(from, w + j, sums);
          for (const float*& row : from) row += width;
        }
        if (whole < inputs) {
          float rest[at_once + 1][width] = {};
          std::copy_n(w + whole, inputs - whole, rest[at_once]);
          for (std::size_t i = 0; i < at_once; ++i) {
            std::copy_n(from[i], inputs - whole, rest[i]);
            from[i] = rest[i];
          }
          detail::add_products(from, rest[at_once], sums);
        }
        for (std::size_t i = 0; i < count; ++i) {
          y[(first + i) * results + result] = sum(sums[i]) + (bias == nullptr ? 0 : bias[result]);
        }
      }
    }
  });
}

}  // namespace seqtrain::kernels
