#pragma once

#include <algorithm>
#include <cstddef>

#include <seqtrain/kernels/clones.hpp>
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
  float* gradient;
  float* exp_avg;
  float* exp_avg_sq;

  [[nodiscard]] AdamRows from(std::size_t i) const {
    return {value + i, gradient + i, exp_avg + i, exp_avg_sq + i};
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
  Floats value, g, m, v, root;
  load(rows.value, value);
  load(rows.gradient, g);
  load(rows.exp_avg, m);
  load(rows.exp_avg_sq, v);
  advance(f, g, value, m, v, root);
  store(rows.value, value);
  store(rows.gradient, Floats{});
  store(rows.exp_avg, m);
  store(rows.exp_avg_sq, v);
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
    float* const from[4] = {rows.value + i, rows.gradient + i, rows.exp_avg + i,
                            rows.exp_avg_sq + i};
    for (std::size_t k = 0; k < 4; ++k) std::copy_n(from[k], count - i, parts[k]);
    detail::update<Floats>(factors, {parts[0], parts[1], parts[2], parts[3]});
    for (std::size_t k = 0; k < 4; ++k) std::copy_n(parts[k], count - i, from[k]);
  });
}

/// Returns the sum of the squares of `count` numbers.
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
      for (; i < end; ++i) *to += static_cast<double>(values[i]) * static_cast<double>(values[i]);
      *to += static_cast<double>(sum(sums));
    }
  });
  return result;
}

}  // namespace seqtrain::kernels
