#include <cstdint>

#include <gtest/gtest.h>

#include <seqtrain/core/parse_number.hpp>

namespace seqtrain {
namespace {

TEST(ParseNumber, ReadsWholeTexts) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("-2.5e-1"), -0.25);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), ~std::uint64_t{0});
}

TEST(ParseNumber, ReturnsNothingForOtherTexts) {
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "one", "2147483648"}) {
    EXPECT_FALSE(parse_number<int>(text)) << text;
  }
  EXPECT_FALSE(parse_number<std::uint64_t>("-1"));
}

}  // namespace
}  // namespace seqtrain
