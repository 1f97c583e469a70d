#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/weights/dtype.hpp>

namespace seqtrain::weights {
namespace {

TEST(DType, NamesReadBack) {
  for (const auto* text : {"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"}) {
    ASSERT_TRUE(dtype_named(text)) << text;
    EXPECT_EQ(name(*dtype_named(text)), text);
  }
  for (const auto* text : {"", "f32", "F8_E4M3", "F", "F320"}) EXPECT_FALSE(dtype_named(text));
}

TEST(DType, KnowsItsSizeAndKind) {
  EXPECT_EQ(size_of(DType::f64), 8u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::boolean), 1u);
  EXPECT_TRUE(is_floating(DType::bf16));
  EXPECT_FALSE(is_floating(DType::i64));
}

/// Computes the value by the definition: (-1)^sign · 2^(exponent - 15) · 1.fraction.
float half_by_definition(unsigned bits) {
  const float sign = (bits & 0x8000u) != 0 ? -1.0f : 1.0f;
  const int exponent = static_cast<int>(bits >> 10 & 31u);
  const auto fraction = static_cast<float>(bits & 1023u) / 1024;
  if (exponent == 0) return sign * std::ldexp(fraction, -14);
  return sign * std::ldexp(1 + fraction, exponent - 15);
}

TEST(DType, EveryFiniteHalfHasItsValue) {
  for (unsigned bits = 0; bits < 0x10000u; ++bits) {
    if ((bits >> 10 & 31u) == 31) continue;
    const float value = half_to_float(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(value, half_by_definition(bits)) << bits;
    ASSERT_EQ(std::signbit(value), bits >= 0x8000u) << bits;
  }
}

TEST(DType, InfinityAndNanStayWhatTheyAre) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(half_to_float(0x7c00), infinity);
  EXPECT_EQ(half_to_float(0xfc00), -infinity);
  EXPECT_TRUE(std::isnan(half_to_float(0x7e00)));
  EXPECT_EQ(bfloat_to_float(0x7f80), infinity);
  EXPECT_TRUE(std::isnan(bfloat_to_float(0x7fc0)));
}

TEST(DType, ABfloatIsAFloatsUpperHalf) {
  EXPECT_EQ(bfloat_to_float(0x3f80), 1.0f);
  EXPECT_EQ(bfloat_to_float(0xc049), -3.140625f);
}

TEST(DType, ConvertsFromAnyAddress) {
  const std::vector<double> numbers{1.5, -0.1, 1e300};
  std::vector<std::byte> bytes(1 + 8 * numbers.size());
  std::memcpy(bytes.data() + 1, numbers.data(), 8 * numbers.size());
  std::vector<float> floats(numbers.size());
  to_floats(DType::f64, std::span{bytes}.subspan(1), floats);
  EXPECT_EQ(floats, (std::vector<float>{1.5f, -0.1f, std::numeric_limits<float>::infinity()}));
}

}  // namespace
}  // namespace seqtrain::weights
