#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/kernels/head_norm.hpp>

namespace seqtrain::kernels {
namespace {

constexpr float eps = 1e-3F;
constexpr std::size_t rows = 3, n = 32, ld_x = 40, ld_y = 36;

std::vector<float> numbers(std::uint64_t seed, std::size_t count) {
  const random::Stream stream{seed, random::Purpose::data};
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 2 * random::to_float(stream.at(i)) - 1;
  return values;
}

/// Returns the sum of the normalized numbers times `weights`.
double objective(const std::vector<float>& x, const std::vector<float>& gamma,
                 const std::vector<float>& weights) {
  double sum = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) squares += std::pow(x[row * ld_x + i], 2);
    const double inverse = 1 / std::sqrt(squares / n + eps);
    for (std::size_t i = 0; i < n; ++i) {
      sum += x[row * ld_x + i] * inverse * gamma[i] * weights[row * ld_y + i];
    }
  }
  return sum;
}

TEST(HeadNorm, BothPassesAgreeWithTheFormula) {
  std::vector<float> x = numbers(1, rows * ld_x), gamma = numbers(2, n);
  const std::vector<float> weights = numbers(3, rows * ld_y), before = x;
  const LayerNormWeights norm{gamma.data(), nullptr, eps, false};
  std::vector<float> y(rows * ld_y);
  normalize_head(x.data(), ld_x, norm, y.data(), ld_y, rows, n);
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += static_cast<double>(y[i]) * weights[i];
  EXPECT_NEAR(sum, objective(x, gamma, weights), 1e-5);

  std::vector<float> gradient = x, d_gamma(n);
  normalize_head_backward(gradient.data(), ld_x, norm, weights.data(), ld_y, d_gamma.data(), rows,
                          n);
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
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t row = 0; row < rows; ++row) {
      EXPECT_NEAR(gradient[row * ld_x + i], slope(x[row * ld_x + i]), 1e-4);
    }
    EXPECT_NEAR(d_gamma[i], slope(gamma[i]), 1e-4);
  }
  for (std::size_t i = n; i < ld_x; ++i) EXPECT_EQ(gradient[i], before[i]);  // beside the head
}

}  // namespace
}  // namespace seqtrain::kernels
