#include <cstdint>

#include <gtest/gtest.h>

#include <seqtrain/core/number_in.hpp>

namespace seqtrain {
namespace {

TEST(NumberIn, ReadsAWholeText) {
  EXPECT_EQ(number_in<std::int64_t>("-12"), -12);
  EXPECT_EQ(number_in<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(number_in<double>("2.5e-3"), 2.5e-3);
}

TEST(NumberIn, RefusesAnyOtherText) {
  for (const char* text : {"", " 1", "1 ", "1.5", "+1", "0x10", "one", "9223372036854775808"}) {
    EXPECT_FALSE(number_in<std::int64_t>(text)) << text;
  }
  EXPECT_FALSE(number_in<std::uint64_t>("-1"));
  EXPECT_FALSE(number_in<double>("1e999"));
  EXPECT_FALSE(number_in<double>("1,5"));
}

}  // namespace
}  // namespace seqtrain
