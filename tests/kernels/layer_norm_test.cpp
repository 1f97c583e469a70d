#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/kernels/layer_norm.hpp>

namespace seqtrain::kernels {
namespace {

constexpr std::size_t norm_rows = 3;
constexpr std::size_t n = 48;
constexpr float eps = 1e-5F;

std::vector<float> noise(std::uint64_t seed, std::size_t count) {
  const random::Stream stream{seed, random::Purpose::data};
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 2 * random::to_float(stream.at(i)) - 1;
  return values;
}

struct Norm {
  std::vector<float> x = noise(1, norm_rows*n), bias = noise(2, n),
                     residual = noise(3, norm_rows*n);
  std::vector<float> gamma = noise(4, n), beta = noise(5, n), weights = noise(6, norm_rows*n);
  HashDropout dropout{77, 0.25};
};

/// sum(weights * LayerNorm(dropout(x + bias) + residual)) in double.
double objective(const Norm& p) {
  double total = 0;
  for (std::size_t row = 0; row < norm_rows; ++row) {
    std::vector<double> line(n);
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = row * n + i;
      Width<4>::Floats keep = Width<4>::Floats{} + 1;
      p.dropout.apply(static_cast<std::uint32_t>(at), keep);
      line[i] = (static_cast<double>(p.x[at]) + p.bias[i]) * keep[0] + p.residual[at];
      mean += line[i] / n;
    }
    for (const double value : line) variance += (value - mean) * (value - mean) / n;
    for (std::size_t i = 0; i < n; ++i) {
      const double y = (line[i] - mean) / std::sqrt(variance + eps) * p.gamma[i] + p.beta[i];
      total += y * p.weights[row * n + i];
    }
  }
  return total;
}

double difference(Norm& p, float& value) {
  constexpr float h = 1.0F / 512;
  const float before = value;
  value = before + h;
  const double above = objective(p);
  value = before - h;
  const double below = objective(p);
  value = before;
  return (above - below) / (2.0 * h);
}

TEST(LayerNorm, BothPassesAgreeWithTheFormula) {
  Norm p;
  std::vector<float> x = p.x, y(norm_rows * n), compact(norm_rows * n), normal(norm_rows * n),
                     inverse(norm_rows);
  add_and_norm<float>(x.data(), p.bias.data(), p.residual.data(), x.data(), p.dropout, 0,
                      {p.gamma.data(), p.beta.data(), eps},
                      {y.data(), compact.data(), normal.data(), inverse.data()}, norm_rows, n);
  double value = 0;
  for (std::size_t i = 0; i < y.size(); ++i) value += static_cast<double>(y[i]) * p.weights[i];
  EXPECT_NEAR(value, objective(p), 1e-4);
  EXPECT_EQ(y, compact);

  std::vector<float> gradient = p.weights, x_gradient(norm_rows * n), d_gamma(n), d_beta(n);
  add_and_norm_backward(gradient.data(), gradient.data(), normal.data(), inverse.data(),
                        {p.gamma.data(), p.beta.data(), eps}, p.dropout, 0, x_gradient.data(),
                        d_gamma.data(), d_beta.data(), norm_rows, n);
  for (std::size_t i = 0; i < norm_rows * n; ++i) {
    EXPECT_NEAR(gradient[i], difference(p, p.residual[i]), 2e-3);
    EXPECT_NEAR(x_gradient[i], difference(p, p.x[i]), 2e-3);
  }
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(d_gamma[i], difference(p, p.gamma[i]), 2e-3);
    EXPECT_NEAR(d_beta[i], difference(p, p.beta[i]), 2e-3);
  }
}

/// RMSNorm divides by the root of the mean square, and its gradient has no mean taken away.
TEST(LayerNorm, WithoutCenteringIsRMSNorm) {
  constexpr std::size_t columns = 16;
  constexpr double h = 1e-3;
  const std::vector<float> zeros(columns), weights = noise(7, columns), gamma = noise(6, columns);
  std::vector<float> x = noise(5, columns);
  const LayerNormWeights norm{gamma.data(), zeros.data(), eps, false};
  const auto value = [&] {
    double squares = 0, sum = 0;
    for (const float number : x) squares += static_cast<double>(number) * number;
    const double inverse = 1 / std::sqrt(squares / columns + eps);
    for (std::size_t i = 0; i < columns; ++i) sum += x[i] * inverse * gamma[i] * weights[i];
    return sum;
  };
  std::vector<float> y = x, compact(columns), normal(columns), inverse(1);
  norm_and_drop<float>(y.data(), norm, {}, 0,
                       {y.data(), compact.data(), normal.data(), inverse.data()}, 1, columns);
  double sum = 0;
  for (std::size_t i = 0; i < columns; ++i) sum += static_cast<double>(y[i]) * weights[i];
  EXPECT_NEAR(sum, value(), 1e-5);
  std::vector<float> gradient = weights, d_gamma(columns), d_beta(columns);
  norm_and_drop_backward(gradient.data(), normal.data(), inverse.data(), norm, {}, 0,
                         d_gamma.data(), d_beta.data(), 1, columns);
  for (std::size_t i = 0; i < columns; ++i) {
    const float before = x[i];
    x[i] = before + static_cast<float>(h);
    const double above = value();
    x[i] = before - static_cast<float>(h);
    EXPECT_NEAR(gradient[i], (above - value()) / (2 * h), 2e-3) << i;
    x[i] = before;
    EXPECT_NEAR(d_gamma[i], weights[i] * normal[i], 1e-6);
  }
}

TEST(LayerNorm, TheNormOfAResidualGivesTheSameAndKeepsTheResidual) {
  const Norm p;
  const LayerNormWeights weights{p.gamma.data(), p.beta.data(), eps};
  std::vector<float> x = p.x, expected(norm_rows * n), compact(norm_rows * n),
                     normal(norm_rows * n), inverse(norm_rows);
  add_and_norm<float>(x.data(), p.bias.data(), p.residual.data(), x.data(), p.dropout, 0, weights,
                      {expected.data(), compact.data(), normal.data(), inverse.data()}, norm_rows,
                      n);
  const std::vector<float> sum = x;  // add_and_norm leaves it there
  std::vector<float> y = p.x, residual = p.residual, of_residual(norm_rows * n);
  add_and_norm<float>(y.data(), p.bias.data(), residual.data(), residual.data(), p.dropout, 0,
                      weights, {y.data(), compact.data(), of_residual.data(), inverse.data()},
                      norm_rows, n);
  EXPECT_EQ(y, expected);
  EXPECT_EQ(y, compact);
  EXPECT_EQ(of_residual, normal);
  EXPECT_EQ(residual, sum);
}

TEST(LayerNorm, TheGradientOfAResidualIsItsOwnAndThatThroughTheNorm) {
  const Norm p;
  const std::vector<float> own = noise(8, norm_rows * n), normal = noise(9, norm_rows * n);
  const std::vector<float> inverse{0.5F, 2, 1};
  std::vector<float> through = p.weights, unused(norm_rows * n), d_gamma(n), d_beta(n);
  add_and_norm_backward(through.data(), through.data(), normal.data(), inverse.data(),
                        {p.gamma.data(), p.beta.data(), eps}, {}, 0, unused.data(), d_gamma.data(),
                        d_beta.data(), norm_rows, n);
  std::vector<float> gradient = own, d_y = p.weights, d_x(norm_rows * n), gamma2(n), beta2(n);
  add_and_norm_backward(gradient.data(), d_y.data(), normal.data(), inverse.data(),
                        {p.gamma.data(), p.beta.data(), eps}, p.dropout, 0, d_x.data(),
                        gamma2.data(), beta2.data(), norm_rows, n);
  EXPECT_EQ(gamma2, d_gamma);
  EXPECT_EQ(beta2, d_beta);
  for (std::size_t i = 0; i < norm_rows * n; ++i) {
    EXPECT_EQ(gradient[i], own[i] + through[i]);
    Width<4>::Floats kept = Width<4>::Floats{} + gradient[i];
    p.dropout.apply(static_cast<std::uint32_t>(i), kept);
    EXPECT_EQ(d_x[i], kept[0]);
  }
}

TEST(LayerNorm, LeavesNothingForABackwardPassIfThereIsNone) {
  const Norm p;
  std::vector<float> x = p.x, y(norm_rows * n), compact(norm_rows * n), normal(norm_rows * n),
                     inverse(norm_rows);
  const LayerNormWeights weights{p.gamma.data(), p.beta.data(), eps};
  add_and_norm<float>(x.data(), p.bias.data(), p.residual.data(), x.data(), {}, 0, weights,
                      {y.data(), compact.data(), normal.data(), inverse.data()}, norm_rows, n);
  std::vector<float> again = p.x, alone(norm_rows * n);
  add_and_norm<float>(again.data(), p.bias.data(), p.residual.data(), again.data(), {}, 0, weights,
                      {alone.data(), compact.data(), nullptr, nullptr}, norm_rows, n);
  EXPECT_EQ(y, alone);
}

TEST(LayerNorm, NormAndDropIsTheSameWithoutAResidual) {
  Norm p;
  const std::vector<float> zeros(norm_rows * n);
  std::vector<float> x = p.x, expected(norm_rows * n), y(norm_rows * n), compact(norm_rows * n),
                     normal(norm_rows * n);
  std::vector<float> inverse(norm_rows);
  const LayerNormWeights weights{p.gamma.data(), p.beta.data(), eps};
  add_and_norm<float>(x.data(), zeros.data(), zeros.data(), x.data(), {}, 0, weights,
                      {expected.data(), compact.data(), normal.data(), inverse.data()}, norm_rows,
                      n);
  norm_and_drop<float>(p.x.data(), weights, p.dropout, 0,
                       {y.data(), compact.data(), normal.data(), inverse.data()}, norm_rows, n);
  std::vector<float> gradient = p.weights, d_gamma(n), d_beta(n);
  std::vector<float> dropped = p.weights, unused(norm_rows * n), d_gamma2(n), d_beta2(n);
  for (std::size_t i = 0; i < norm_rows * n; ++i) {
    Width<4>::Floats keep = Width<4>::Floats{} + 1;
    p.dropout.apply(static_cast<std::uint32_t>(i), keep);
    EXPECT_EQ(y[i], expected[i] * keep[0]);
    dropped[i] *= keep[0];
  }
  norm_and_drop_backward(gradient.data(), normal.data(), inverse.data(), weights, p.dropout, 0,
                         d_gamma.data(), d_beta.data(), norm_rows, n);
  add_and_norm_backward(dropped.data(), dropped.data(), normal.data(), inverse.data(),
                        {p.gamma.data(), p.beta.data(), eps}, {}, 0, unused.data(), d_gamma2.data(),
                        d_beta2.data(), norm_rows, n);
  EXPECT_EQ(gradient, dropped);
  EXPECT_EQ(d_gamma, d_gamma2);
  EXPECT_EQ(d_beta, d_beta2);
}

}  // namespace
}  // namespace seqtrain::kernels
