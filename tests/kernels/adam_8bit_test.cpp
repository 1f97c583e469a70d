#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/adam.hpp>

#include "support/adam_factors.hpp"

namespace seqtrain::kernels {
namespace {

constexpr std::uint32_t rounds_up = 0xfffff;  // what is not a number of the block

template <bool is_signed>
float decoded(std::uint8_t top, std::uint32_t code) {
  Width<4>::Floats result;
  ByteFloats<is_signed>{top}.decode(Width<4>::Bits{} + code, result);
  return result[0];
}

template <bool is_signed>
std::uint32_t encoded(std::uint8_t top, float number, std::uint32_t random = 0) {
  Width<4>::Bits result;
  ByteFloats<is_signed>{top}.encode(Width<4>::Floats{number}, Width<4>::Bits{} + random, result);
  return result[0];
}

/// The number of a code by the definition of the format.
template <bool is_signed>
double defined(int top, std::uint32_t code) {
  const int least = std::max(top - (is_signed ? 15 : 31), 1);
  const std::uint32_t magnitude = is_signed ? code & 127 : code;
  if (magnitude == 0) return 0;
  const double size =
      std::ldexp(1 + (magnitude % 8) / 8.0, static_cast<int>(magnitude / 8) + least - 127);
  return is_signed && code >= 128 ? -size : size;
}

template <bool is_signed>
void expect_all_codes_kept() {
  for (const int top : {0, 1, 9, 127, 200, 254}) {
    const auto byte = static_cast<std::uint8_t>(top);
    for (std::uint32_t code = 0; code < 256; ++code) {
      const float number = decoded<is_signed>(byte, code);
      ASSERT_EQ(number, defined<is_signed>(top, code)) << top << " " << code;
      for (const std::uint32_t random : {0U, 1U, rounds_up}) {
        ASSERT_EQ(encoded<is_signed>(byte, number, random), code) << top << " " << code;
      }
    }
  }
}

TEST(ByteFloats, KeepAllOfTheirNumbers) {
  expect_all_codes_kept<true>();
  expect_all_codes_kept<false>();
}

TEST(ByteFloats, HaveTheSameNumbersUnderAnotherTop) {
  for (std::uint32_t code = 8 * 8; code < 128; ++code) {
    const float number = decoded<true>(120, code);
    EXPECT_EQ(decoded<true>(125, encoded<true>(125, number, rounds_up)), number) << code;
  }
}

TEST(ByteFloats, RoundUpWithinTheTopOfTheirLargest) {
  for (const float largest : {1e-30F, 0.99F, 1.0F, 1.4F, 1.999F, 3e20F}) {
    const auto top = ByteMoments::top_of(largest);
    const auto code = encoded<true>(top, largest, rounds_up);
    ASSERT_LT(code, 128U) << largest;
    EXPECT_GE(decoded<true>(top, code), largest);
    EXPECT_LE(decoded<true>(top, code), largest * 1.125F);
    EXPECT_LT(encoded<false>(ByteRoots::top_of(largest), largest, rounds_up), 256U) << largest;
  }
}

TEST(ByteFloats, RoundWithoutBias) {
  constexpr std::uint32_t draws = 1 << 12;
  for (const float number : {1.0F, 1.01F, 1.1249F, 1.99F, -0.3F, 0.00077F, -1e-4F}) {
    double moments = 0, roots = 0;
    for (std::uint32_t i = 0; i < draws; ++i) {
      const std::uint32_t random = ((i << 8) | (i & 0xff)) & 0xfffff;
      moments += decoded<true>(128, encoded<true>(128, number, random)) / draws;
      roots += decoded<false>(128, encoded<false>(128, std::abs(number), random)) / draws;
    }
    EXPECT_NEAR(moments / number, 1, 1e-4) << number;
    EXPECT_NEAR(roots / std::abs(number), 1, 1e-4) << number;
  }
}

TEST(ByteFloats, RoundWhatIsTooSmallToZeroUnlessItIsARoot) {
  const float denormal = std::numeric_limits<float>::denorm_min();
  for (const auto top : {std::uint8_t{0}, std::uint8_t{127}}) {
    EXPECT_EQ(encoded<true>(top, denormal), 0U);
    EXPECT_EQ(encoded<true>(top, -denormal), 128U);
    EXPECT_EQ(encoded<false>(top, denormal), 1U);
    EXPECT_EQ(encoded<false>(top, 0.0F, rounds_up), 0U);
    EXPECT_GE(decoded<false>(top, 1), std::numeric_limits<float>::min());
  }
}

TEST(ByteFloats, RoundWhatIsTooLargeToTheirLargest) {
  for (const float number :
       {3e38F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(encoded<true>(110, number, rounds_up), 127U) << number;
    EXPECT_EQ(encoded<false>(110, number, rounds_up), 255U) << number;
  }
  EXPECT_EQ(encoded<true>(110, -3e38F), 255U);
}

/// A parameter with moments of one byte.
struct ByteNumbers {
  std::vector<float> value, gradient;
  std::vector<std::uint8_t> exp_avg, root;

  explicit ByteNumbers(std::size_t count)
      : value(count),
        gradient(count),
        exp_avg(count / byte_block * (byte_block + 1)),
        root(exp_avg.size()) {
    for (std::size_t i = 0; i < count; ++i) {
      value[i] = static_cast<float>(std::sin(static_cast<double>(i)));
    }
  }

  /// Sets the gradients of a step. Some are always zero, some 10^6 times larger than others.
  void set_gradients(std::size_t step) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double size = i % 37 == 0 ? 0 : std::pow(10, -static_cast<double>(i % 7));
      gradient[i] =
          static_cast<float>(size * std::cos(0.7 * static_cast<double>((step + 3) * (i + 1))));
    }
  }

  AdamBytes bytes() { return {value.data(), gradient.data(), exp_avg.data(), root.data()}; }

  /// The code of a number, where `AdamBytes` says that it is.
  static std::size_t place(std::size_t i) {
    const std::size_t in_block = i % byte_block;
    return i / byte_block * (byte_block + 1) + in_block % 16 * 4 + in_block / 16;
  }
  static std::size_t place_of_top(std::size_t i) {
    return i / byte_block * (byte_block + 1) + byte_block;
  }

  friend bool operator==(const ByteNumbers&, const ByteNumbers&) = default;
};

constexpr AdamFactors byte_factors = tests::adam_factors(/*added_value=*/0);

void take_step(ByteNumbers& numbers, std::size_t step) {
  numbers.set_gradients(step);
  adam(byte_factors, RandomBits{step}, numbers.bytes(), 0, numbers.value.size());
}

/// Compares one step with the algorithm in double. Each moment is one of the two numbers of the
/// format that are next to it.
void expect_updated(const ByteNumbers& before, const ByteNumbers& after, std::size_t i) {
  const std::size_t at = ByteNumbers::place(i), top = ByteNumbers::place_of_top(i);
  const AdamFactors& f = byte_factors;
  const double old_m = defined<true>(before.exp_avg[top], before.exp_avg[at]);
  const double old_root = defined<false>(before.root[top], before.root[at]);
  const double g = before.gradient[i] * double(f.gradient);
  const double m = (1 - double(f.new_part1)) * old_m + double(f.new_part1) * g;
  const double root =
      std::sqrt(double(f.beta2) * old_root * old_root + double(f.new_part2) * g * g);
  const double step = double(f.step_size) * m / (root * double(f.root_factor) + f.eps);
  EXPECT_NEAR(after.value[i], before.value[i] * double(f.kept_value) - step, 1e-6) << i;
  EXPECT_EQ(after.gradient[i], 0.0F);
  const double m_of_code = defined<true>(after.exp_avg[top], after.exp_avg[at]);
  const double least_m = defined<true>(after.exp_avg[top], 1);
  EXPECT_NEAR(m_of_code, m, std::abs(m) / 8 * 1.001 + least_m) << i;
  const double root_of_code = defined<false>(after.root[top], after.root[at]);
  EXPECT_NEAR(root_of_code, root, root / 8 * 1.001 + 1e-30) << i;
  EXPECT_EQ(root_of_code > 0, root > 0) << i;
}

TEST(Adam8bit, RoundsMomentsToNumbersNextToThem) {
  ByteNumbers numbers{640};
  for (std::size_t step = 0; step < 50; ++step) {
    numbers.set_gradients(step);
    const ByteNumbers before = numbers;
    adam(byte_factors, RandomBits{step}, numbers.bytes(), 64, 576);
    for (std::size_t i = 64; i < 576; ++i) expect_updated(before, numbers, i);
    for (const std::size_t i : {0U, 63U, 576U, 639U}) {
      ASSERT_EQ(numbers.value[i], before.value[i]);
      ASSERT_EQ(numbers.gradient[i], before.gradient[i]);
      ASSERT_EQ(numbers.root[ByteNumbers::place(i)], 0);
    }
  }
}

TEST(Adam8bit, GivesTheSameBitsInPartsAndInVectorsOfOtherWidths) {
  ByteNumbers whole{1'024}, parts{1'024};
#if SEQTRAIN_HAS_CLONES
  ByteNumbers narrow{1'024};
#endif
  for (std::size_t step = 0; step < 20; ++step) {
    take_step(whole, step);
    parts.set_gradients(step);
    adam(byte_factors, RandomBits{step}, parts.bytes(), 512, 1'024);
    adam(byte_factors, RandomBits{step}, parts.bytes(), 0, 512);
#if SEQTRAIN_HAS_CLONES
    if (!detail::has_avx2()) continue;
    narrow.set_gradients(step);
    detail::run_on_avx2([step, bytes = narrow.bytes()](Width<8>) SEQTRAIN_INLINE_LAMBDA {
      for (std::size_t i = 0; i < 1'024; i += byte_block) {
        detail::update<Width<8>::Floats>(byte_factors, RandomBits{step}, i, bytes.from(i));
      }
    });
#endif
  }
  EXPECT_TRUE(whole == parts);
#if SEQTRAIN_HAS_CLONES
  if (!detail::has_avx2()) return;
  EXPECT_TRUE(std::equal(whole.value.begin(), whole.value.end(), narrow.value.begin()));
  EXPECT_TRUE(std::equal(whole.root.begin(), whole.root.end(), narrow.root.begin()));
#endif
}

TEST(Adam8bit, LeavesWhatNeverHadAGradient) {
  ByteNumbers numbers{640};
  const ByteNumbers before = numbers;
  AdamFactors plain = byte_factors;
  plain.kept_value = 1;
  adam(plain, RandomBits{3}, numbers.bytes(), 0, 640);
  EXPECT_TRUE(numbers == before);
}

/// Numbers that are halfway between two others are rounded up as independent coins fall.
TEST(Adam8bit, RoundsEachNumberByItself) {
  constexpr std::size_t count = 1 << 14;
  const auto rounded_up = [](std::uint64_t site) {
    ByteNumbers numbers{count};
    numbers.gradient.assign(count, 21.25F);  // the first moment is 1.0625, and a code is 1/8
    adam(byte_factors, RandomBits{site}, numbers.bytes(), 0, count);
    std::vector<bool> up(count);
    for (std::size_t i = 0; i < count; ++i) {
      up[i] = defined<true>(numbers.exp_avg[ByteNumbers::place_of_top(i)],
                            numbers.exp_avg[ByteNumbers::place(i)]) > 1.0625;
    }
    return up;
  };
  const auto expect_half = [](std::size_t equal, std::size_t of) {
    const auto coins = static_cast<double>(of);
    EXPECT_NEAR(static_cast<double>(equal), coins / 2, 5 * std::sqrt(coins / 4));
  };
  const std::vector<bool> one = rounded_up(1), other = rounded_up(2);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < count; ++i) equal += one[i] == other[i] ? 1 : 0;
  expect_half(equal, count);
  for (const std::size_t distance : {1U, 16U, 64U, 768U}) {
    equal = 0;
    for (std::size_t i = distance; i < count; ++i) equal += one[i] == one[i - distance] ? 1 : 0;
    expect_half(equal, count - distance);
  }
}

TEST(Adam8bit, KeepsTheSecondMomentOverManySteps) {
  constexpr std::size_t count = 4'096, steps = 6'000;
  ByteNumbers numbers{count};
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < count; ++i) {  // a variance of 1/3
      const std::uint64_t word = (i * steps + step + 1) * 0x9E3779B97F4A7C15U;
      numbers.gradient[i] = static_cast<float>(
          static_cast<double>((word ^ word >> 29) * 0xBF58476D1CE4E5B9U >> 11) * 0x1p-52 - 1);
    }
    adam(byte_factors, RandomBits{step * 0x9E3779B97F4A7C15U}, numbers.bytes(), 0, count);
  }
  double mean = 0, squares = 0;
  const double expected = std::sqrt(0.25 / 3);  // the factor of the gradients is 1/2
  for (std::size_t i = 0; i < count; ++i) {
    const double root = defined<false>(numbers.root[ByteNumbers::place_of_top(i)],
                                       numbers.root[ByteNumbers::place(i)]) /
                        expected;
    mean += root / count;
    squares += root * root / count;
    ASSERT_GT(root, 0.4) << i;
    ASSERT_LT(root, 2) << i;
  }
  EXPECT_NEAR(mean, 1, 0.03);
  EXPECT_LT(std::sqrt(squares - mean * mean), 0.2);
}

}  // namespace
}  // namespace seqtrain::kernels
