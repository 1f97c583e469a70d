#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/kernels/head_norm.hpp>

namespace seqtrain::kernels {
namespace {

constexpr float head_eps = 1e-3F;
constexpr std::size_t tested_rows = 3, tested_columns = 32, stride_of_x = 40, stride_of_y = 36;

std::vector<float> head_numbers(std::uint64_t seed, std::size_t count) {
  const random::Stream stream{seed, random::Purpose::data};
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 2 * random::to_float(stream.at(i)) - 1;
  return values;
}

/// Returns the sum of the normalized numbers times `weights`.
double objective(const std::vector<float>& x, const std::vector<float>& gamma,
                 const std::vector<float>& weights) {
  double sum = 0;
  for (std::size_t row = 0; row < tested_rows; ++row) {
    double squares = 0;
    for (std::size_t i = 0; i < tested_columns; ++i)
      squares += std::pow(x[row * stride_of_x + i], 2);
    const double inverse = 1 / std::sqrt(squares / tested_columns + head_eps);
    for (std::size_t i = 0; i < tested_columns; ++i) {
      sum += x[row * stride_of_x + i] * inverse * gamma[i] * weights[row * stride_of_y + i];
    }
  }
  return sum;
}

TEST(HeadNorm, BothPassesAgreeWithTheFormula) {
  std::vector<float> x = head_numbers(1, tested_rows * stride_of_x),
                     gamma = head_numbers(2, tested_columns);
  const std::vector<float> weights = head_numbers(3, tested_rows * stride_of_y), before = x;
  const LayerNormWeights norm{gamma.data(), nullptr, head_eps, false};
  std::vector<float> y(tested_rows * stride_of_y);
  normalize_head(x.data(), stride_of_x, norm, y.data(), stride_of_y, tested_rows, tested_columns);
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += static_cast<double>(y[i]) * weights[i];
  EXPECT_NEAR(sum, objective(x, gamma, weights), 1e-5);

  std::vector<float> gradient = x, d_gamma(tested_columns);
  normalize_head_backward(gradient.data(), stride_of_x, norm, weights.data(), stride_of_y,
                          d_gamma.data(), tested_rows, tested_columns);
  constexpr float h = 1.0F / 1024;
  const auto slope = [&](float& value) {
    const float old = value;
    value = old + h;
    const double above = objective(x, gamma, weights);
    value = old - h;
    const double below = objective(x, gamma, weights);
    value = old;
    return (above - below) / (2.0 * h);
  };
  for (std::size_t i = 0; i < tested_columns; ++i) {
    for (std::size_t row = 0; row < tested_rows; ++row) {
      EXPECT_NEAR(gradient[row * stride_of_x + i], slope(x[row * stride_of_x + i]), 1e-4);
    }
    EXPECT_NEAR(d_gamma[i], slope(gamma[i]), 1e-4);
  }
  for (std::size_t i = tested_columns; i < stride_of_x; ++i)
    EXPECT_EQ(gradient[i], before[i]);  // beside the head
}

}  // namespace
}  // namespace seqtrain::kernels
