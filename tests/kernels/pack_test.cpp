#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/kernels/pack.hpp>

namespace seqtrain::kernels {
namespace {

constexpr std::size_t k = 96;
constexpr std::size_t panel_columns = 32;
constexpr std::size_t ld_source = 101;

/// Returns numbers below 256, which are exact in bfloat16.
std::vector<float> numbers(std::size_t count) {
  std::vector<float> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<float>(i % 251);
  return result;
}

template <class T>
float packed_at(const std::vector<T>& packed, std::size_t row, std::size_t column) {
  constexpr std::size_t step = interleave<T>;
  return to_float(packed[row / step * step * panel_columns + column * step + row % step]);
}

template <class T>
void expect_both_ways() {
  const auto plain = numbers(k * ld_source);
  std::vector<T> packed(k * panel_columns);
  pack_panel(plain.data(), ld_source, k, panel_columns, packed.data());
  std::vector<float> unpacked(k * panel_columns);
  unpack_panel(packed.data(), k, panel_columns, unpacked.data());
  std::vector<T> transposed(k * panel_columns);
  const auto other = numbers(panel_columns * ld_source);
  pack_transposed_panel(other.data(), ld_source, k, panel_columns, transposed.data());
  for (std::size_t row = 0; row < k; ++row) {
    for (std::size_t column = 0; column < panel_columns; ++column) {
      EXPECT_EQ(packed_at(packed, row, column), plain[row * ld_source + column]);
      EXPECT_EQ(unpacked[row * panel_columns + column], plain[row * ld_source + column]);
      EXPECT_EQ(packed_at(transposed, row, column), other[column * ld_source + row]);
    }
  }
}

TEST(Pack, FloatLiesRowByRow) {
  expect_both_ways<float>();
}
TEST(Pack, Bfloat16InterleavesTwoRows) {
  expect_both_ways<Bf16>();
}

TEST(Pack, TransposedBfloat16IsPackedLikeItsFloats) {
  const auto plain = numbers(panel_columns * ld_source);
  std::vector<Bf16> narrow(plain.size());
  for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = to_bf16(plain[i]);
  std::vector<Bf16> packed(k * panel_columns);
  pack_transposed_panel(narrow.data(), ld_source, k, panel_columns, packed.data());
  for (std::size_t row = 0; row < k; ++row) {
    for (std::size_t column = 0; column < panel_columns; ++column) {
      EXPECT_EQ(packed_at(packed, row, column), plain[column * ld_source + row]);
    }
  }
}

template <class T>
void expect_transposed() {
  const auto numbers_of_rows = numbers(k * ld_source);
  std::vector<T> source(k * ld_source);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = from_float<T>(numbers_of_rows[i]);
  std::vector<T> transposed(k * panel_columns);
  std::vector<float> sums(panel_columns, 1.0F);
  transpose_and_sum(source.data(), ld_source, k, panel_columns, transposed.data(), sums.data());
  for (std::size_t column = 0; column < panel_columns; ++column) {
    float sum = 1;
    for (std::size_t row = 0; row < k; ++row) {
      EXPECT_EQ(to_float(transposed[column * k + row]), numbers_of_rows[row * ld_source + column]);
      sum += numbers_of_rows[row * ld_source + column];
    }
    EXPECT_EQ(sums[column], sum);
  }
}

TEST(Pack, TransposesAndSums) {
  expect_transposed<float>();
  expect_transposed<Bf16>();
}

TEST(Pack, Widens) {
  const auto plain = numbers(k * ld_source);
  std::vector<Bf16> narrow(k * ld_source);
  for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = to_bf16(plain[i]);
  std::vector<float> wide(k * panel_columns);
  widen(narrow.data(), ld_source, k, panel_columns, wide.data());
  for (std::size_t row = 0; row < k; ++row) {
    for (std::size_t i = 0; i < panel_columns; ++i) {
      EXPECT_EQ(wide[row * panel_columns + i], plain[row * ld_source + i]);
    }
  }
}

}  // namespace
}  // namespace seqtrain::kernels
