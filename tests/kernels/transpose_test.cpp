#include <cstddef>

#include <gtest/gtest.h>

#include <seqtrain/kernels/transpose.hpp>

namespace seqtrain::kernels {
namespace {

template <std::size_t n>
void expect_transposed() {
  typename Width<n>::Floats rows[n];
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rows[i][j] = static_cast<float>(100 * i + j);
  }
  transpose<n>(rows);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(rows[i][j], static_cast<float>(100 * j + i));
  }
}

TEST(Transpose, SwapsRowsAndColumns) {
  expect_transposed<4>();
  expect_transposed<8>();
  expect_transposed<16>();
}

}  // namespace
}  // namespace seqtrain::kernels
