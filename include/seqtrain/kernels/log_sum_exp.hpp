#pragma once

#include <cstddef>
#include <limits>

#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// A sum of exponentials, which is e^peak · sum.
struct ScaledSum {
  float peak;
  float sum;
};

/// Adds `bias` [columns] to each row of x [rows, columns], rows `ld` apart, and sums the
/// exponentials of each row. columns is a multiple of 16.
inline void add_bias_and_sum(float* x, std::size_t ld, const float* bias, std::size_t rows,
                             std::size_t columns, ScaledSum* sums) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    typename Width<width>::Floats values, b;
    for (std::size_t row = 0; row < rows; ++row) {
      float* const line = x + row * ld;
      typename Width<width>::Floats peaks{}, total{};
      peaks += -std::numeric_limits<float>::infinity();
      for (std::size_t i = 0; i < columns; i += width) {
        load(line + i, values);
        load(bias + i, b);
        values += b;
        store(line + i, values);
        peaks = values > peaks ? values : peaks;
      }
      const float peak = largest(peaks);
      for (std::size_t i = 0; i < columns; i += width) {
        load(line + i, values);
        values -= peak;
        exponentiate(values);
        total += values;
      }
      sums[row] = {peak, sum(total)};
    }
  });
}

/// Computes y = e^(x - logs[row]) · factor for a block [rows, columns] of logits. Rows of x and of
/// y are equally many numbers apart, and y may overwrite x. columns is a multiple of 16.
template <class T>
void scaled_probabilities(const float* x, std::size_t ld, const float* logs, float factor,
                          std::size_t rows, std::size_t columns, T* y) {
  for_each_vector(rows, columns, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    typename decltype(at)::Floats values;
    load(at.in(x, ld), values);
    values -= logs[at.row];
    exponentiate(values);
    store(at.in(y, ld), values * factor);
  });
}

}  // namespace seqtrain::kernels
