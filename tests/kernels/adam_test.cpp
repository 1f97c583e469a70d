#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/adam.hpp>

#include "support/adam_factors.hpp"

namespace seqtrain::kernels {
namespace {

struct Numbers {
  std::vector<float> value, gradient, exp_avg, exp_avg_sq;

  explicit Numbers(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = static_cast<double>(i);
      value.push_back(static_cast<float>(std::sin(x)));
      gradient.push_back(static_cast<float>(std::cos(3 * x)));
      exp_avg.push_back(static_cast<float>(0.1 * std::sin(5 * x)));
      exp_avg_sq.push_back(static_cast<float>(0.01 * std::abs(std::cos(x))));
    }
  }

  AdamRows rows() { return {value.data(), gradient.data(), exp_avg.data(), exp_avg_sq.data()}; }
};

/// Compares with Kingma and Ba's algorithm in double.
void expect_updated(const AdamFactors& f, const Numbers& before, const Numbers& after,
                    std::size_t i) {
  const double value = before.value[i];
  const double g = before.gradient[i] * double(f.gradient) + value * double(f.added_value);
  const double m = (1 - double(f.new_part1)) * before.exp_avg[i] + double(f.new_part1) * g;
  const double v = double(f.beta2) * before.exp_avg_sq[i] + double(f.new_part2) * g * g;
  const double step = double(f.step_size) * m / (std::sqrt(v) * double(f.root_factor) + f.eps);
  EXPECT_NEAR(after.exp_avg[i], m, 1e-7) << i;
  EXPECT_NEAR(after.exp_avg_sq[i], v, 1e-7) << i;
  EXPECT_NEAR(after.value[i], value * double(f.kept_value) - step, 1e-6) << i;
  EXPECT_EQ(after.gradient[i], 0.0F) << i;
}

constexpr AdamFactors adam_factors = tests::adam_factors(/*added_value=*/0.01F);

TEST(AdamKernel, UpdatesStretchesOfAnyLength) {
  for (const std::size_t count : {0U, 1U, 7U, 16U, 33U, 1000U}) {
    Numbers numbers{count + 3};
    const Numbers before = numbers;
    adam(adam_factors, numbers.rows(), count);
    for (std::size_t i = 0; i < count; ++i) expect_updated(adam_factors, before, numbers, i);
    for (std::size_t i = count; i < count + 3; ++i) {
      EXPECT_EQ(numbers.value[i], before.value[i]);
      EXPECT_EQ(numbers.gradient[i], before.gradient[i]);
    }
  }
}

TEST(AdamKernel, TakesNoGradientsForZeros) {
  for (const std::size_t count : {1U, 16U, 33U, 1000U}) {
    Numbers expected{count + 3};
    expected.gradient.assign(count + 3, 0);
    Numbers numbers = expected;
    adam(adam_factors, expected.rows(), count);
    AdamRows rows = numbers.rows();
    rows.gradient = nullptr;
    adam(adam_factors, rows, count);
    EXPECT_EQ(numbers.value, expected.value) << count;
    EXPECT_EQ(numbers.exp_avg, expected.exp_avg) << count;
    EXPECT_EQ(numbers.exp_avg_sq, expected.exp_avg_sq) << count;
  }
}

TEST(AdamKernel, LeavesWhatNeverHadAGradient) {
  Numbers numbers{40};
  for (auto* zero : {&numbers.gradient, &numbers.exp_avg, &numbers.exp_avg_sq}) {
    zero->assign(zero->size(), 0.0F);
  }
  const Numbers before = numbers;
  AdamFactors plain = adam_factors;
  plain.added_value = 0;
  plain.kept_value = 1;
  adam(plain, numbers.rows(), 40);
  EXPECT_EQ(numbers.value, before.value);
  EXPECT_EQ(numbers.exp_avg, before.exp_avg);
}

TEST(AdamKernel, GivesANumberTheSameBitsWhereverItLies) {
  Numbers whole{100};
  Numbers parts{100};
  adam(adam_factors, whole.rows(), 100);
  for (const std::size_t begin : {0U, 13U, 45U, 46U}) {
    const std::size_t end = begin == 0 ? 13 : begin == 13 ? 45 : begin == 45 ? 46 : 100;
    adam(adam_factors, parts.rows().from(begin), end - begin);
  }
  EXPECT_EQ(whole.value, parts.value);
  EXPECT_EQ(whole.exp_avg_sq, parts.exp_avg_sq);
}

TEST(SumOfSquares, IsThatOfEachNumber) {
  for (const std::size_t count : {0U, 5U, 16U, 1'024U, 5'001U}) {
    std::vector<float> values(count);
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(std::sin(static_cast<double>(i)));
      expected += double(values[i]) * double(values[i]);
    }
    EXPECT_NEAR(sum_of_squares(values.data(), count), expected, 1e-6 * (1 + expected));
  }
}

TEST(SumOfSquares, MayBeBeyondAFloat) {
  for (std::size_t count = 1; count <= 70; ++count) {
    for (const float value : {2e19F, 3e38F}) {
      const std::vector<float> values(count, value);
      const double expected = double(value) * double(value) * static_cast<double>(count);
      EXPECT_NEAR(sum_of_squares(values.data(), count) / expected, 1, 1e-6) << count;
    }
  }
}

TEST(SumOfSquares, IsNotFiniteWhereANumberIsNot) {
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    for (const std::size_t place : {3U, 98U}) {
      std::vector<float> values(99, 1.0F);
      values[place] = bad;
      EXPECT_FALSE(std::isfinite(sum_of_squares(values.data(), values.size())));
    }
  }
}

}  // namespace
}  // namespace seqtrain::kernels
