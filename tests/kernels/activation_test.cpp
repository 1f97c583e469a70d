#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/activation.hpp>

namespace seqtrain::kernels {
namespace {

double gelu(double x) {
  return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}

double gelu_new(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

double silu(double x) {
  return x / (1 + std::exp(-x));
}

double relu(double x) {
  return x > 0 ? x : 0;
}

/// Compares value and slope with the formula and its central difference.
template <class Act>
void expect_like(const std::function<double(double)>& formula) {
  constexpr double h = 1e-5;
  for (double x = -12.003; x < 12; x += 0.0371) {
    using Floats = Width<8>::Floats;
    Floats value, slope;
    Act::at(Floats{} + static_cast<float>(x), value, slope);
    EXPECT_NEAR(value[0], formula(x), 2e-6) << x;
    EXPECT_NEAR(slope[0], (formula(x + h) - formula(x - h)) / (2 * h), 4e-6) << x;
  }
}

TEST(Activation, Gelu) {
  expect_like<Gelu>(gelu);
}
TEST(Activation, GeluNew) {
  expect_like<GeluNew>(gelu_new);
}
TEST(Activation, QuickGelu) {
  std::vector<float> x(640), value(640);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.0371F - 12.003F;
  const std::vector<float> bias(640);
  float* const no_slope = nullptr;
  activate<QuickGelu>(x.data(), 640, bias.data(), value.data(), no_slope, 640, 1, 640);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(value[i], gelu(static_cast<double>(x[i])), 2e-5) << x[i];
  }
  Width<4>::Floats ends, unused;
  QuickGelu::at(Width<4>::Floats{1e6F, -1e6F, 0, -3e19F}, ends, unused);
  EXPECT_EQ(ends[0], 1e6F);
  for (int i = 1; i < 4; ++i) EXPECT_EQ(ends[i], 0);
}
TEST(Activation, Silu) {
  expect_like<Silu>(silu);
}
TEST(Activation, Relu) {
  expect_like<Relu>(relu);
}

TEST(Activation, TakesTheBlockOfARowOnly) {
  constexpr std::size_t rows = 3, n = 16, ld_x = 20, ld = 24;
  std::vector<float> x(rows * ld_x, 1.0F), value(rows * ld, -7.0F), slope(rows * ld, -7.0F);
  const std::vector<float> bias(n, 0.5F);
  activate<Relu>(x.data(), ld_x, bias.data(), value.data(), slope.data(), ld, rows, n);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < ld; ++i) {
      EXPECT_EQ(value[row * ld + i], i < n ? 1.5F : -7.0F);
      EXPECT_EQ(slope[row * ld + i], i < n ? 1.0F : -7.0F);
    }
  }
}

TEST(Activation, ComputesTheValueAloneToTheSameBits) {
  std::vector<float> x(64), value(64), alone(64), slope(64);
  const std::vector<float> bias(64, 0.25F);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.3F * static_cast<float>(i) - 9;
  activate<Gelu>(x.data(), 64, bias.data(), value.data(), slope.data(), 64, 1, 64);
  activate<Gelu, float>(x.data(), 64, bias.data(), alone.data(), nullptr, 64, 1, 64);
  EXPECT_EQ(value, alone);
}

TEST(Activation, AddsMultipliesAndConverts) {
  const std::vector<float> x(16, 3.0F), bias(16, 0.5F);
  std::vector<float> y(16, 2.0F);
  add(x.data(), 16, y.data(), 16, 1, 16);
  EXPECT_EQ(y[7], 5.0F);
  multiply(x.data(), 16, y.data(), 16, 1, 16);
  EXPECT_EQ(y[7], 15.0F);
  std::vector<Bf16> half(16);
  convert(y.data(), 16, half.data(), 16, 1, 16);
  EXPECT_EQ(to_float(half[15]), 15.0F);
  add_bias(x.data(), 16, bias.data(), half.data(), 16, 1, 16);
  EXPECT_EQ(to_float(half[0]), 3.5F);
}

/// Gated activations of rows whose inputs, values and factors are apart by different numbers.
TEST(Activation, GatesAndTheirFactorsAgreeWithDifferences) {
  constexpr std::size_t rows = 3, n = 16, ld_x = 20, ld = 32, ld_factors = 64;
  const HashDropout dropout{5, 0.3};
  std::vector<float> x(rows * ld_x), gate(rows * ld_x), bias(n), gate_bias(n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i) * 0.1F - 3;
    gate[i] = 2 - static_cast<float>(i) * 0.07F;
  }
  for (std::size_t i = 0; i < n; ++i) {
    bias[i] = static_cast<float>(i) * 0.01F;
    gate_bias[i] = 0.5F - bias[i];
  }
  std::vector<float> value(rows * ld), factors(rows * ld_factors), alone(rows * ld);
  activate_gated<GeluNew>(x.data(), gate.data(), ld_x, bias.data(), gate_bias.data(), dropout, 100,
                          value.data(), ld, factors.data(), factors.data() + ld, ld_factors, rows,
                          n);
  float* const none = nullptr;
  activate_gated<GeluNew>(x.data(), gate.data(), ld_x, bias.data(), gate_bias.data(), dropout, 100,
                          alone.data(), ld, none, none, ld_factors, rows, n);
  EXPECT_EQ(value, alone);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < n; ++i) {
      Width<4>::Floats keep = Width<4>::Floats{} + 1;
      dropout.apply(static_cast<std::uint32_t>(100 + row * ld + i), keep);
      const double in = static_cast<double>(x[row * ld_x + i]) + bias[i];
      const double factor = (static_cast<double>(gate[row * ld_x + i]) + gate_bias[i]) * keep[0];
      constexpr double h = 1e-5;
      const double slope = (gelu_new(in + h) - gelu_new(in - h)) / (2 * h);
      EXPECT_NEAR(value[row * ld + i], gelu_new(in) * factor, 1e-5);
      EXPECT_NEAR(factors[row * ld_factors + i], slope * factor, 2e-5);
      EXPECT_NEAR(factors[row * ld_factors + ld + i], gelu_new(in) * keep[0], 1e-5);
    }
  }
}

}  // namespace
}  // namespace seqtrain::kernels
