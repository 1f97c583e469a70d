#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/float_product.hpp>

namespace seqtrain::kernels {
namespace {

/// Both factors of a product with k rows of weights, and the numbers that they were made from.
template <class T>
struct Product {
  std::size_t rows, k, columns;
  std::size_t ld = k + 2;
  std::vector<float> wide_a, wide_b;
  std::vector<T> a, b;

  /// Makes whole numbers from -`largest` to `largest`, or numbers with fractions if it is 0.
  Product(std::size_t row_count, std::size_t depth, std::size_t width, float largest)
      : rows{row_count}, k{depth}, columns{width}, b(k * columns) {
    std::uint32_t state = 7;
    const auto fill = [&](std::vector<float>& numbers, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        state = state * 1664525 + 1013904223;
        const auto number = static_cast<float>(static_cast<int>(state >> 16) - (1 << 15));
        numbers.push_back(largest == 0 ? to_float(from_float<T>(number / 10'000))
                                       : std::round(number / (1 << 15) * largest));
      }
    };
    fill(wide_a, rows * ld);
    fill(wide_b, k * columns);
    for (const float number : wide_a) a.push_back(from_float<T>(number));
    pack_panel(wide_b.data(), columns, k, columns, b.data());
  }

  /// Returns rows of the product, each with one more number, which must stay.
  [[nodiscard]] std::vector<float> compute(std::size_t first, std::size_t count,
                                           bool accumulate) const {
    std::vector<float> c(count * (columns + 1), 5);
    std::vector<float> scratch(float_product::scratch<T>(count, columns));
    multiply_floats(count, k, a.data() + first * ld, ld, b.data(), columns, c.data(), columns + 1,
                    accumulate, scratch.data());
    return c;
  }

  [[nodiscard]] double exact(std::size_t row, std::size_t column) const {
    double sum = 0;
    for (std::size_t j = 0; j < k; ++j) {
      sum += double{wide_a[row * ld + j]} * wide_b[j * columns + column];
    }
    return sum;
  }

  void expect_exact(bool accumulate) const {
    const auto c = compute(0, rows, accumulate);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        ASSERT_EQ(c[row * (columns + 1) + column], exact(row, column) + (accumulate ? 5 : 0))
            << rows << ' ' << k << ' ' << columns << ' ' << row << ' ' << column;
      }
      ASSERT_EQ(c[row * (columns + 1) + columns], 5);
    }
  }
};

template <class T>
class FloatProduct : public testing::Test {};
using ProductNumbers = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(FloatProduct, ProductNumbers);

TYPED_TEST(FloatProduct, IsExactForSmallWholeNumbersOfAllSizes) {
  for (std::size_t size = 1; size <= 70; ++size) {
    for (const std::size_t columns : {16U, 32U, 48U, 64U}) {
      Product<TypeParam>{size, 6, columns, 4}.expect_exact(size % 2 == 0);
      Product<TypeParam>{7, 2 * size, columns, 4}.expect_exact(size % 2 != 0);
    }
  }
  for (const std::size_t k : {510U, 512U, 514U, 1024U, 1030U}) {
    for (const std::size_t rows : {5U, 95U, 96U, 131U}) {
      Product<TypeParam>{rows, k, 64, 4}.expect_exact(k == 512);
    }
  }
}

TYPED_TEST(FloatProduct, HasTheErrorOfFloats) {
  const Product<TypeParam> product{120, 700, 32, 0};
  const auto c = product.compute(0, product.rows, false);
  for (std::size_t row = 0; row < product.rows; ++row) {
    double sizes = 0;
    for (std::size_t j = 0; j < product.k; ++j) {
      sizes += std::abs(double{product.wide_a[row * product.ld + j]} * product.wide_b[j * 32]);
    }
    EXPECT_NEAR(c[row * 33], product.exact(row, 0), 1e-6 * sizes);
  }
}

TYPED_TEST(FloatProduct, ComputesARowsBitsAloneOrAmongOthers) {
  const Product<TypeParam> product{130, 600, 64, 0};
  const auto all = product.compute(0, product.rows, true);
  for (std::size_t row = 0; row < product.rows; ++row) {
    const auto alone = product.compute(row, 1, true);
    for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(alone[i], all[row * 65 + i]) << row << ' ' << i;
  }
}

}  // namespace
}  // namespace seqtrain::kernels
