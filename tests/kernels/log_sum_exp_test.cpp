#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/log_sum_exp.hpp>

namespace seqtrain::kernels {
namespace {

constexpr std::size_t logit_columns = 48;
constexpr std::size_t logit_ld = 64;

std::vector<float> some_logits(double scale) {
  std::vector<float> x(2 * logit_ld);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(scale * std::sin(static_cast<double>(i * i)));
  }
  return x;
}

/// Computes the logarithm of the sum of exponentials of a row in double.
double exact(const std::vector<float>& x, const std::vector<float>& bias, std::size_t row) {
  double peak = -1e300, sum = 0;
  const auto at = [&](std::size_t i) {
    return static_cast<double>(x[row * logit_ld + i]) + static_cast<double>(bias[i]);
  };
  for (std::size_t i = 0; i < logit_columns; ++i) peak = std::max(peak, at(i));
  for (std::size_t i = 0; i < logit_columns; ++i) sum += std::exp(at(i) - peak);
  return peak + std::log(sum);
}

TEST(LogSumExp, SumsRowsWithTheirBias) {
  for (const double scale : {0.5, 30.0, 1e4}) {
    const auto before = some_logits(scale);
    auto x = before;
    std::vector<float> bias(logit_columns);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i) * 0.01F;
    bias[5] = -1e30F;  // a column without a word
    ScaledSum sums[2];
    add_bias_and_sum(x.data(), logit_ld, bias.data(), 2, logit_columns, sums);
    for (std::size_t row = 0; row < 2; ++row) {
      const double got =
          static_cast<double>(sums[row].peak) + std::log(static_cast<double>(sums[row].sum));
      const double answer = exact(before, bias, row);
      EXPECT_NEAR(got, answer, 1e-6 * (1 + std::abs(answer)));
      EXPECT_EQ(x[row * logit_ld + 9], before[row * logit_ld + 9] + bias[9]);
      EXPECT_EQ(x[row * logit_ld + logit_columns], before[row * logit_ld + logit_columns]);
    }
  }
}

TEST(LogSumExp, ProbabilitiesMayTakeThePlaceOfLogits) {
  const auto x = some_logits(3);
  const std::vector<float> bias(logit_columns),
      logs{static_cast<float>(exact(x, bias, 0)), static_cast<float>(exact(x, bias, 1))};
  std::vector<float> apart(x.size());
  scaled_probabilities(x.data(), logit_ld, logs.data(), 0.25F, 2, logit_columns, apart.data());
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < logit_columns; ++i) {
      sum += static_cast<double>(apart[row * logit_ld + i]);
    }
    EXPECT_NEAR(sum, 0.25, 1e-6);
  }
  std::vector<float> memory = x;
  auto* const rounded = reinterpret_cast<Bf16*>(memory.data());
  scaled_probabilities(memory.data(), logit_ld, logs.data(), 0.25F, 2, logit_columns, rounded);
  for (std::size_t i = 0; i < logit_columns; ++i) {
    EXPECT_NEAR(to_float(rounded[logit_ld + i]), apart[logit_ld + i], apart[logit_ld + i] / 200);
  }
}

}  // namespace
}  // namespace seqtrain::kernels
