#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// The weights of LayerNorm: gamma and beta [n], and epsilon, which is added to the variance.
/// Without `centers` they are those of RMSNorm, which takes 0 for the mean.
struct LayerNormWeights {
  const float* gamma;
  const float* beta;
  float eps;
  bool centers = true;
};

/// The results of LayerNorm: `y` for the residual, `y_compact` as a factor of the next product, and
/// `normal` and `inverse_deviation` for the backward pass, which are null if there is none. All are
/// [rows, n] but the last, which is [rows].
template <class T>
struct LayerNormResult {
  float* y;
  T* y_compact;
  T* normal;
  float* inverse_deviation;

  /// Returns the results from `row` on.
  [[nodiscard]] LayerNormResult from(std::size_t row, std::size_t n) const {
    if (normal == nullptr) return {y + row * n, y_compact + row * n, nullptr, nullptr};
    return {y + row * n, y_compact + row * n, normal + row * n, inverse_deviation + row};
  }
};

/// Computes LayerNorm of one row x, whose sum is given.
template <std::size_t width, class T>
SEQTRAIN_INLINE void normalize_row(const float* x, float total, std::size_t n,
                                   const LayerNormWeights& weights, const LayerNormResult<T>& out) {
  using Floats = typename Width<width>::Floats;
  const auto count = static_cast<float>(n);
  const float mean = weights.centers ? total / count : 0;
  Floats in, squares = {};
  for (std::size_t i = 0; i < n; i += width) {
    load(x + i, in);
    squares += (in - mean) * (in - mean);
  }
  const float inverse = 1 / std::sqrt(sum(squares) / count + weights.eps);
  if (out.inverse_deviation != nullptr) *out.inverse_deviation = inverse;
  for (std::size_t i = 0; i < n; i += width) {
    Floats gamma, beta;
    load(x + i, in);
    load(weights.gamma + i, gamma);
    load(weights.beta + i, beta);
    const Floats normal = (in - mean) * inverse;
    const Floats y = normal * gamma + beta;
    if (out.normal != nullptr) store(out.normal + i, normal);
    store(out.y + i, y);
    store(out.y_compact + i, y);
  }
}

/// Computes sum = dropout(x + bias) + residual and y = LayerNorm(sum) for [rows, n]. Writes the sum
/// to `sum_to`: to x if `out.y` is the next residual, or to `residual` in layers whose norms come
/// before attention and before the feed-forward network. `first` is the dropout's index of the
/// block's first element. n must be a multiple of 16.
template <class T>
void add_and_norm(const float* x, const float* bias, const float* residual, float* sum_to,
                  const HashDropout& dropout, std::uint32_t first, const LayerNormWeights& weights,
                  const LayerNormResult<T>& out, std::size_t rows, std::size_t n) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t at = row * n;
      typename Width<width>::Floats in, b, r, total = {};
      for (std::size_t i = 0; i < n; i += width) {
        load(x + at + i, in);
        load(bias + i, b);
        load(residual + at + i, r);
        in += b;
        dropout.apply(first + static_cast<std::uint32_t>(at + i), in);
        in += r;
        total += in;
        store(sum_to + at + i, in);
      }
      normalize_row<width, T>(sum_to + at, sum(total), n, weights, out.from(row, n));
    }
  });
}

/// Computes y = LayerNorm(x) for [rows, n] and also writes it to `compact`. y may be x. n must be a
/// multiple of 16.
template <class T>
void normalize(const float* x, const LayerNormWeights& weights, float* y, T* compact,
               std::size_t rows, std::size_t n) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    for (std::size_t row = 0; row < rows; ++row) {
      const LayerNormResult<T> out{y + row * n, compact + row * n, nullptr, nullptr};
      typename Width<width>::Floats in, total = {};
      for (std::size_t i = 0; i < n; i += width) {
        load(x + row * n + i, in);
        total += in;
      }
      normalize_row<width, T>(x + row * n, sum(total), n, weights, out);
    }
  });
}

/// Computes y = dropout(LayerNorm(x)) for [rows, n], the end of an encoder's embeddings.
template <class T>
void norm_and_drop(const float* x, const LayerNormWeights& weights, const HashDropout& dropout,
                   std::uint32_t first, const LayerNormResult<T>& out, std::size_t rows,
                   std::size_t n) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t at = row * n;
      typename Width<width>::Floats in, total = {};
      for (std::size_t i = 0; i < n; i += width) {
        load(x + at + i, in);
        total += in;
      }
      normalize_row<width, T>(x + at, sum(total), n, weights, out.from(row, n));
      for (std::size_t i = 0; i < n; i += width) {
        load(out.y + at + i, in);
        dropout.apply(first + static_cast<std::uint32_t>(at + i), in);
        store(out.y + at + i, in);
        store(out.y_compact + at + i, in);
      }
    }
  });
}

/// Computes the backward pass of LayerNorm for one row. Turns `gradient` from the gradient with
/// respect to y into the gradient with respect to LayerNorm's input. Adds to d_gamma and d_beta.
template <std::size_t width, class T>
SEQTRAIN_INLINE void normalize_row_backward(float* gradient, const T* normal,
                                            float inverse_deviation,
                                            const LayerNormWeights& weights, float* d_gamma,
                                            float* d_beta, std::size_t n) {
  const float scale = 1 / static_cast<float>(n);
  typename Width<width>::Floats g, z, w, dg, db, plain = {}, slanted = {};
  for (std::size_t i = 0; i < n; i += width) {
    load(gradient + i, g);
    load(normal + i, z);
    load(weights.gamma + i, w);
    plain += g * w;
    slanted += g * w * z;
  }
  const float mean = weights.centers ? sum(plain) * scale : 0;
  const float slant = sum(slanted) * scale;
  for (std::size_t i = 0; i < n; i += width) {
    load(gradient + i, g);
    load(normal + i, z);
    load(weights.gamma + i, w);
    load(d_gamma + i, dg);
    load(d_beta + i, db);
    store(d_gamma + i, dg + g * z);
    store(d_beta + i, db + g);
    store(gradient + i, (g * w - mean - z * slant) * inverse_deviation);
  }
}

/// Computes the backward pass of `add_and_norm`. `gradient` [rows, n] is the gradient with respect
/// to the sum if that is the next residual; `d_y` is the gradient with respect to y, and the part
/// that comes from it is added to `gradient`. If y is the next residual, both are the same memory,
/// which holds the gradient with respect to y. Overwrites `d_y`. Writes the gradient with respect
/// to x to `x_gradient`, which may be `normal`.
template <class T>
void add_and_norm_backward(float* gradient, float* d_y, const T* normal,
                           const float* inverse_deviation, const LayerNormWeights& weights,
                           const HashDropout& dropout, std::uint32_t first, T* x_gradient,
                           float* d_gamma, float* d_beta, std::size_t rows, std::size_t n) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t at = row * n;
      normalize_row_backward<width>(d_y + at, normal + at, inverse_deviation[row], weights, d_gamma,
                                    d_beta, n);
      for (std::size_t i = 0; i < n; i += width) {
        typename Width<width>::Floats g, own;
        load(d_y + at + i, g);
        if (d_y != gradient) {
          load(gradient + at + i, own);
          g += own;
          store(gradient + at + i, g);
        }
        dropout.apply(first + static_cast<std::uint32_t>(at + i), g);
        store(x_gradient + at + i, g);
      }
    }
  });
}

/// Computes the backward pass of `norm_and_drop`, in place.
template <class T>
void norm_and_drop_backward(float* gradient, const T* normal, const float* inverse_deviation,
                            const LayerNormWeights& weights, const HashDropout& dropout,
                            std::uint32_t first, float* d_gamma, float* d_beta, std::size_t rows,
                            std::size_t n) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t at = row * n;
      for (std::size_t i = 0; i < n; i += width) {
        typename Width<width>::Floats g;
        load(gradient + at + i, g);
        dropout.apply(first + static_cast<std::uint32_t>(at + i), g);
        store(gradient + at + i, g);
      }
      normalize_row_backward<width>(gradient + at, normal + at, inverse_deviation[row], weights,
                                    d_gamma, d_beta, n);
    }
  });
}

}  // namespace seqtrain::kernels
