#pragma once

#include <cmath>
#include <cstddef>

#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/layer_norm.hpp>

namespace seqtrain::kernels {

/// Returns 1 / the root of the mean square of a row of n numbers and `eps`.
template <std::size_t width, class T>
SEQTRAIN_INLINE float inverse_root_mean_square(const T* x, std::size_t n, float eps) {
  typename Width<width>::Floats in, squares = {};
  for (std::size_t i = 0; i < n; i += width) {
    load(x + i, in);
    squares += in * in;
  }
  return 1 / std::sqrt(sum(squares) / static_cast<float>(n) + eps);
}

/// Computes y = RMSNorm(x) (Zhang and Sennrich 2019) for [rows, n], the queries or the keys of a
/// head. Rows are `ld_x` and `ld_y` apart. n must be a multiple of 16.
template <class T>
void normalize_head(const T* x, std::size_t ld_x, const LayerNormWeights& weights, T* y,
                    std::size_t ld_y, std::size_t rows, std::size_t n) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    typename Width<width>::Floats in, gamma;
    for (std::size_t row = 0; row < rows; ++row) {
      const T* const from = x + row * ld_x;
      const float inverse = inverse_root_mean_square<width>(from, n, weights.eps);
      for (std::size_t i = 0; i < n; i += width) {
        load(from + i, in);
        load(weights.gamma + i, gamma);
        store(y + row * ld_y + i, in * inverse * gamma);
      }
    }
  });
}

/// Computes the backward pass of `normalize_head`: turns x into the gradient with respect to x,
/// given that with respect to y. Adds to d_gamma [n].
template <class T>
void normalize_head_backward(T* x, std::size_t ld_x, const LayerNormWeights& weights, const T* d_y,
                             std::size_t ld_y, float* d_gamma, std::size_t rows, std::size_t n) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    typename Width<width>::Floats z, g, w, sums;
    for (std::size_t row = 0; row < rows; ++row) {
      T* const of_row = x + row * ld_x;
      const T* const gradient = d_y + row * ld_y;
      const float inverse = inverse_root_mean_square<width>(of_row, n, weights.eps);
      typename Width<width>::Floats products = {};
      for (std::size_t i = 0; i < n; i += width) {
        load(of_row + i, z);
        load(gradient + i, g);
        load(weights.gamma + i, w);
        products += g * w * z;
      }
      const float slant = sum(products) * inverse / static_cast<float>(n);
      for (std::size_t i = 0; i < n; i += width) {
        load(of_row + i, z);
        load(gradient + i, g);
        load(weights.gamma + i, w);
        load(d_gamma + i, sums);
        z *= inverse;
        store(d_gamma + i, sums + g * z);
        store(of_row + i, (g * w - z * slant) * inverse);
      }
    }
  });
}

}  // namespace seqtrain::kernels
