#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/bf16_product.hpp>
#include <seqtrain/kernels/pack.hpp>

namespace seqtrain::kernels {
namespace {

TEST(Bf16Product, IsExactForSmallIntegers) {
  if (!has_bf16_products()) GTEST_SKIP() << "the processor has no bfloat16 products";
  const std::size_t k = 96, columns = 64;
  std::vector<float> weights(columns * k);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 13) - 6;
  std::vector<Bf16> packed(columns * k);
  pack_transposed_panel(weights.data(), k, k, columns, packed.data());
  for (const std::size_t rows : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 13U}) {
    std::vector<Bf16> x(rows * k);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = to_bf16(static_cast<float>(i % 11) - 5);
    std::vector<float> y(rows * columns, -1);
    multiply_bf16(x.data(), k, rows, k, packed.data(), columns, y.data(), columns);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        float sum = 0;
        for (std::size_t i = 0; i < k; ++i)
          sum += to_float(x[row * k + i]) * weights[column * k + i];
        EXPECT_EQ(y[row * columns + column], sum);
      }
    }
  }
}

}  // namespace
}  // namespace seqtrain::kernels
