#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {
namespace {

/// Tests of the vectors of each width. Every machine compiles all of them.
template <class W>
class Lanes : public testing::Test {
 protected:
  using Floats = typename W::Floats;
  static constexpr std::size_t width = width_of<Floats>;
};
using Widths = testing::Types<Width<4>, Width<8>, Width<16>>;
TYPED_TEST_SUITE(Lanes, Widths);

TYPED_TEST(Lanes, LoadAndStoreBothTypes) {
  float numbers[lanes];
  std::iota(numbers, numbers + lanes, -3.0F);
  typename TestFixture::Floats values, back;
  load(numbers, values);
  Bf16 halves[lanes];
  store_rounded(halves, values);
  load(halves, back);
  for (std::size_t i = 0; i < this->width; ++i) EXPECT_EQ(back[i], numbers[i]);  // they fit
}

constexpr float numbers_to_round[lanes] = {1.00390625F,
                                           1.01171875F,
                                           1.0F + 1.0F / 256 + 1e-6F,
                                           -1.00390625F,
                                           3.4e38F,
                                           1e-45F,
                                           0.0F,
                                           -0.0F,
                                           std::numeric_limits<float>::infinity(),
                                           -std::numeric_limits<float>::infinity(),
                                           std::bit_cast<float>(0x7fffffffU),
                                           std::bit_cast<float>(0xff800001U),
                                           3.14159265F,
                                           -2.71828183F,
                                           1e20F,
                                           65504.0F};

void expect_rounded(const Bf16* halves) {
  for (std::size_t i = 0; i < lanes; ++i) {
    EXPECT_EQ(halves[i].bits, to_bf16(numbers_to_round[i]).bits) << i;
  }
}

TYPED_TEST(Lanes, RoundToBfloat16AsTheScalarDoes) {
  Bf16 halves[lanes];
  for (std::size_t i = 0; i < lanes; i += this->width) {
    typename TestFixture::Floats values;
    load(numbers_to_round + i, values);
    store_rounded(halves + i, values);
  }
  expect_rounded(halves);
  EXPECT_EQ(to_bf16(1.00390625F).bits, 0x3f80);  // half way: to even, down
  EXPECT_EQ(to_bf16(1.01171875F).bits, 0x3f82);  // half way: to even, up
  EXPECT_TRUE(std::isnan(to_float(halves[10])));
  EXPECT_TRUE(std::isnan(to_float(halves[11])));
  EXPECT_TRUE(std::isinf(to_float(halves[8])));
}

TEST(LanesOfThisMachine, RoundToBfloat16AsTheScalarDoes) {
  Bf16 halves[lanes];
  vectorised([to = &halves[0]]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    for (std::size_t i = 0; i < lanes; i += width) {
      typename Width<width>::Floats values;
      load(numbers_to_round + i, values);
      store(to + i, values);
    }
  });
  expect_rounded(halves);
}

TYPED_TEST(Lanes, SumAndLargest) {
  float numbers[lanes];
  std::iota(numbers, numbers + lanes, 1.0F);
  typename TestFixture::Floats values;
  load(numbers, values);
  const auto n = static_cast<float>(this->width);
  EXPECT_EQ(sum(values), n * (n + 1) / 2);
  EXPECT_EQ(largest(values), n);
}

TYPED_TEST(Lanes, ExponentiateOverItsRange) {
  const typename TestFixture::Floats none{};
  for (float x = -86.5F; x < 88.0F; x += 0.037F) {
    auto values = none + x;
    exponentiate(values);
    const double expected = std::exp(static_cast<double>(x));
    EXPECT_NEAR(values[0] / expected, 1.0, 4e-7) << x;
  }
  auto far = none - 1e30F;
  exponentiate(far);
  EXPECT_EQ(far[3], 0.0F);
}

}  // namespace
}  // namespace seqtrain::kernels
