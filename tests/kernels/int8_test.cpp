#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/int8.hpp>

namespace seqtrain::kernels {
namespace {

constexpr std::size_t int8_columns = 64;

std::vector<float> made_numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> result(count);
  for (float& x : result) {
    seed = seed * 1664525 + 1013904223;
    x = static_cast<float>(static_cast<std::int32_t>(seed >> 8) - (1 << 23)) / (1 << 21);
  }
  return result;
}

/// Rows and a panel with their memory.
struct Factors {
  Factors(std::size_t row_count, std::size_t depth)
      : rows{row_count},
        k{depth},
        bytes(rows * k),
        row_scales(rows),
        weights(k * int8_columns),
        excess(int8_columns),
        scales(int8_columns) {}

  [[nodiscard]] QuantizedRows x() { return {bytes.data(), row_scales.data()}; }
  [[nodiscard]] Int8Panel panel() { return {weights.data(), excess.data(), scales.data()}; }

  [[nodiscard]] std::int32_t weight(std::size_t i, std::size_t column) const {
    return weights[(i / 4 * int8_columns + column) * 4 + i % 4];
  }
  [[nodiscard]] std::int32_t sum(std::size_t row, std::size_t column) const {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += bytes[row * k + i] * weight(i, column);
    return sum;
  }

  std::size_t rows, k;
  std::vector<std::uint8_t> bytes;
  std::vector<float> row_scales;
  std::vector<std::int8_t> weights;
  std::vector<std::int32_t> excess;
  std::vector<float> scales;
};

TEST(Int8, QuantizesARowByItsLargestNumber) {
  const std::size_t n = 48;
  auto x = made_numbers(3 * n, 1);
  x[5] = -40;
  std::fill_n(x.begin() + n, n, 0.0F);
  Factors factors{3, n};
  quantize_rows(x.data(), 3, n, factors.x());
  for (std::size_t row = 0; row < 3; ++row) {
    float peak = 0;
    for (std::size_t i = 0; i < n; ++i) peak = std::max(peak, std::abs(x[row * n + i]));
    const auto [most, offset] = int8_ranges().activations;
    EXPECT_EQ(factors.row_scales[row], peak / static_cast<float>(most));
    for (std::size_t i = 0; i < n; ++i) {
      const float factor = peak > 0 ? static_cast<float>(most) / peak : 0;
      const float expected = std::nearbyint(x[row * n + i] * factor) + static_cast<float>(offset);
      EXPECT_NEAR(factors.bytes[row * n + i], expected, 1e-6) << row << ' ' << i;
    }
  }
  const Int8Range range = int8_ranges().activations;
  EXPECT_EQ(factors.bytes[5], range.offset - range.most);
}

TEST(Int8, QuantizesBfloat16AsTheFloatsItStandsFor) {
  const std::size_t n = 32;
  std::vector<Bf16> narrow;
  std::vector<float> wide;
  for (const float x : made_numbers(2 * n, 2)) {
    narrow.push_back(to_bf16(x));
    wide.push_back(to_float(narrow.back()));
  }
  Factors one{2, n}, other{2, n};
  quantize_rows(narrow.data(), 2, n, one.x());
  quantize_rows(wide.data(), 2, n, other.x());
  EXPECT_EQ(one.bytes, other.bytes);
  EXPECT_EQ(one.row_scales, other.row_scales);
}

TEST(Int8, LosesMoreOfRowsTheLargerOneColumnIs) {
  const std::size_t rows = 8, n = 64;
  auto x = made_numbers(rows * n, 7);
  Factors factors{rows, n};
  const auto loss = [&] {
    quantize_rows(x.data(), rows, n, factors.x());
    return quantization_loss(x.data(), rows, n, factors.x());
  };
  const double even = loss();
  EXPECT_GT(even, 0.001);
  EXPECT_LT(even, 0.02);
  double before = even;
  for (const float outlier : {30.0F, 300.0F, 3000.0F}) {
    for (std::size_t row = 0; row < rows; ++row) x[row * n + 5] = outlier;
    const double now = loss();
    EXPECT_GT(now, 2 * before) << outlier;
    before = now;
  }
  EXPECT_GT(before, 0.5);  // most other numbers became zero
}

TEST(Int8, LosesAlsoByAColumnOfLargeDifferences) {
  const std::size_t rows = 8, n = 64;
  auto x = made_numbers(rows * n, 7);
  Factors factors{rows, n};
  for (std::size_t row = 0; row < rows; ++row) x[row * n + 5] *= 300;
  quantize_rows(x.data(), rows, n, factors.x());
  EXPECT_GT(quantization_loss(x.data(), rows, n, factors.x()), 0.1);
}

TEST(Int8, LosesNothingOfEqualRows) {
  const std::size_t n = 32;
  std::vector<float> x(2 * n, 1.5F);
  Factors factors{2, n};
  quantize_rows(x.data(), 2, n, factors.x());
  EXPECT_EQ(quantization_loss(x.data(), 2, n, factors.x()), 0);
}

TEST(Int8, TellsThatANumberIsNone) {
  const std::size_t n = 32;
  std::vector<float> x(2 * n, 1.5F);
  x[3] = std::numeric_limits<float>::quiet_NaN();
  Factors factors{2, n};
  quantize_rows(x.data(), 2, n, factors.x());
  EXPECT_TRUE(std::isnan(quantization_loss(x.data(), 2, n, factors.x())));
}

TEST(Int8, KeepsANumberThatIsNone) {
  const std::size_t k = 48;
  for (const std::size_t at : {0, 7, 31, 47}) {
    auto weights = made_numbers(int8_columns * k, 3);
    weights[2 * k + at] = std::numeric_limits<float>::quiet_NaN();
    weights[3 * k + at] = -std::numeric_limits<float>::quiet_NaN();
    Factors factors{1, k};
    quantize_panel(weights.data(), k, int8_columns, factors.panel());
    for (std::size_t column = 0; column < 5; ++column) {
      EXPECT_EQ(std::isnan(factors.scales[column]), column == 2 || column == 3) << column;
    }
    quantize_rows(weights.data() + 2 * k, 1, k, factors.x());
    EXPECT_TRUE(std::isnan(factors.row_scales[0]));
  }
}

TEST(Int8, QuantizesEachOutputChannelByItsLargestWeight) {
  const std::size_t k = 32;
  auto weights = made_numbers(int8_columns * k, 3);
  std::fill_n(weights.begin() + 7 * k, k, 0.0F);
  weights[3 * k + 2] = 100;
  Factors factors{1, k};
  quantize_panel(weights.data(), k, int8_columns, factors.panel());
  for (std::size_t column = 0; column < int8_columns; ++column) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const float error = weights[column * k + i] -
                          factors.scales[column] * static_cast<float>(factors.weight(i, column));
      EXPECT_LE(std::abs(error), factors.scales[column] * 0.5001F);
      sum += factors.weight(i, column);
    }
    EXPECT_EQ(factors.excess[column], int8_ranges().activations.offset * sum);
  }
  EXPECT_EQ(factors.weight(2, 3), int8_ranges().weights.most);
  EXPECT_EQ(factors.scales[7], 0);
}

/// Fills factors with bytes at the ends of their ranges, at which saturating instructions would
/// fail.
void fill_extremes(Factors& factors, const Int8Ranges& ranges) {
  const auto [most, offset] = ranges.activations;
  for (std::size_t i = 0; i < factors.bytes.size(); ++i) {
    factors.bytes[i] = static_cast<std::uint8_t>(i % 7 == 0 ? offset - most : offset + most);
  }
  for (std::size_t i = 0; i < factors.weights.size(); ++i) {
    const std::int32_t weight = ranges.weights.most;
    factors.weights[i] = static_cast<std::int8_t>(i % 3 == 0 ? -weight : weight);
  }
  std::fill(factors.row_scales.begin(), factors.row_scales.end(), 1.0F);
  std::fill(factors.scales.begin(), factors.scales.end(), 1.0F);
}

/// Computes the product by `Dot`, in vectors of four numbers.
template <class Dot>
std::vector<std::int32_t> sums_by(const Factors& factors) {
  using Ints = Width<4>::Ints;
  std::vector<std::int32_t> sums(factors.rows * int8_columns);
  dot_product<Dot, Ints>(
      {factors.bytes.data(), factors.k / 4, factors.weights.data(), int8_columns, factors.k / 4},
      factors.rows, int8_columns, [&](std::size_t row, std::size_t column, const Ints& found) {
        std::memcpy(&sums[row * int8_columns + column], &found, sizeof found);
      });
  return sums;
}

TEST(Int8, ProductsAreExact) {
  for (const std::size_t rows : {1U, 2U, 3U, 5U, 6U, 7U, 17U}) {
    for (const std::size_t k : {4U, 64U, 384U}) {
      Factors factors{rows, k};
      fill_extremes(factors, int8_ranges());
      std::vector<float> y(rows * int8_columns, -1);
      std::vector<std::int32_t> sums(y.size());
      float* const to = y.data();
      multiply_int8(
          factors.x(), rows, k, factors.panel(), int8_columns, sums.data(),
          [=](std::size_t row, std::size_t column, const auto& values)
              SEQTRAIN_INLINE_LAMBDA { store(to + row * int8_columns + column, values); });
      const auto portable = sums_by<dot::BytesAsHalves>(factors);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const std::int32_t expected = factors.sum(i / int8_columns, i % int8_columns);
        ASSERT_LT(std::abs(expected), 1 << 24);  // exact in a float
        EXPECT_EQ(y[i], static_cast<float>(expected));
        EXPECT_EQ(portable[i], expected);
      }
    }
  }
}

TEST(Int8, PortableProductsAreExactForAllBytes) {
  Factors factors{3, 64};
  fill_extremes(factors, {});
  const auto sums = sums_by<dot::BytesAsHalves>(factors);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], factors.sum(i / int8_columns, i % int8_columns));
  }
}

TEST(Int8, ProductsOfQuantizedFactorsAreNearThoseOfTheNumbers) {
  const std::size_t rows = 9, k = 384;
  const auto x = made_numbers(rows * k, 4);
  const auto weights = made_numbers(int8_columns * k, 5);
  Factors factors{rows, k};
  quantize_rows(x.data(), rows, k, factors.x());
  quantize_panel(weights.data(), k, int8_columns, factors.panel());
  std::vector<float> y(rows * int8_columns);
  std::vector<std::int32_t> sums(y.size());
  float* const to = y.data();
  multiply_int8(factors.x(), rows, k, factors.panel(), int8_columns, sums.data(),
                [=](std::size_t row, std::size_t column, const auto& values)
                    SEQTRAIN_INLINE_LAMBDA { store(to + row * int8_columns + column, values); });
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < int8_columns; ++column) {
      const float scale = factors.row_scales[row] * factors.scales[column];
      const float sum = static_cast<float>(factors.sum(row, column) - factors.excess[column]);
      EXPECT_FLOAT_EQ(y[row * int8_columns + column], sum * scale);
      double exact = 0;
      for (std::size_t i = 0; i < k; ++i) exact += double{x[row * k + i]} * weights[column * k + i];
      EXPECT_NEAR(y[row * int8_columns + column], exact, 4);  // of sums of about 100
    }
  }
}

}  // namespace
}  // namespace seqtrain::kernels
