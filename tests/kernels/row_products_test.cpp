#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/row_products.hpp>

namespace seqtrain::kernels {
namespace {

TEST(RowProducts, AreExactForSmallIntegersOfAnyShape) {
  for (const std::size_t inputs : {1U, 7U, 16U, 64U, 100U}) {
    for (const std::size_t results : {1U, 3U, 16U}) {
      std::vector<float> weights(results * inputs), bias(results);
      for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 13) - 6;
      for (std::size_t i = 0; i < results; ++i) bias[i] = static_cast<float>(i) - 1;
      for (std::size_t rows = 1; rows <= 9; ++rows) {
        std::vector<float> x(rows * inputs), y(rows * results), without_bias(rows * results);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11) - 5;
        row_products(x.data(), rows, inputs, weights.data(), bias.data(), results, y.data());
        row_products(x.data(), rows, inputs, weights.data(), nullptr, results, without_bias.data());
        for (std::size_t row = 0; row < rows; ++row) {
          for (std::size_t output = 0; output < results; ++output) {
            float sum = 0;
            for (std::size_t i = 0; i < inputs; ++i)
              sum += x[row * inputs + i] * weights[output * inputs + i];
            EXPECT_EQ(y[row * results + output], sum + bias[output]);
            EXPECT_EQ(without_bias[row * results + output], sum);
          }
        }
      }
    }
  }
}

TEST(RowProducts, ComputeTheSameBitsOfARowAmongAnyOthers) {
  const std::size_t rows = 11, inputs = 100, results = 5;
  std::vector<float> x(rows * inputs), weights(results * inputs), all(rows * results);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) * 0.013F;
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(i * 53 % 97) * 0.017F - 0.8F;
  row_products(x.data(), rows, inputs, weights.data(), nullptr, results, all.data());
  for (std::size_t first = 0; first < rows; ++first) {
    for (std::size_t count = 1; first + count <= rows; ++count) {
      std::vector<float> some(count * results);
      row_products(x.data() + first * inputs, count, inputs, weights.data(), nullptr, results,
                   some.data());
      for (std::size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], all[first * results + i]);
    }
  }
}

}  // namespace
}  // namespace seqtrain::kernels
