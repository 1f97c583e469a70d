#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/row_products.hpp>

namespace seqtrain::kernels {
namespace {

TEST(RowProducts, AreExactForSmallIntegersOfAnyShape) {
  for (const std::size_t k : {1U, 7U, 16U, 64U, 100U}) {
    for (const std::size_t n : {1U, 3U, 16U}) {
      std::vector<float> weights(n * k), bias(n);
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 13) - 6;
      for (std::size_t i = 0; i < n; ++i) bias[i] = static_cast<float>(i) - 1;
      for (std::size_t rows = 1; rows <= 9; ++rows) {
        std::vector<float> x(rows * k), y(rows * n), without_bias(rows * n);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11) - 5;
        row_products(x.data(), rows, k, weights.data(), bias.data(), n, y.data());
        row_products(x.data(), rows, k, weights.data(), nullptr, n, without_bias.data());
        for (std::size_t row = 0; row < rows; ++row) {
          for (std::size_t output = 0; output < n; ++output) {
            float sum = 0;
            for (std::size_t i = 0; i < k; ++i) sum += x[row * k + i] * weights[output * k + i];
            EXPECT_EQ(y[row * n + output], sum + bias[output]);
            EXPECT_EQ(without_bias[row * n + output], sum);
          }
        }
      }
    }
  }
}

TEST(RowProducts, ComputeTheSameBitsOfARowAmongAnyOthers) {
  const std::size_t rows = 11, k = 100, n = 5;
  std::vector<float> x(rows * k), weights(n * k), all(rows * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) * 0.013F;
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(i * 53 % 97) * 0.017F - 0.8F;
  row_products(x.data(), rows, k, weights.data(), nullptr, n, all.data());
  for (std::size_t first = 0; first < rows; ++first) {
    for (std::size_t count = 1; first + count <= rows; ++count) {
      std::vector<float> some(count * n);
      row_products(x.data() + first * k, count, k, weights.data(), nullptr, n, some.data());
      for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], all[first * n + i]);
    }
  }
}

}  // namespace
}  // namespace seqtrain::kernels
