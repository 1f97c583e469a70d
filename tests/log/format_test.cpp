#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/log/format.hpp>

namespace seqtrain::log {
namespace {

TEST(Fixed, HasThatManyDecimals) {
  EXPECT_EQ(fixed(0.59306, 4), "0.5931");
  EXPECT_EQ(fixed(42.4, 0), "42");
  EXPECT_EQ(fixed(-1, 1), "-1.0");
  EXPECT_EQ(fixed(std::nan(""), 4), "nan");
  EXPECT_EQ(fixed(std::numeric_limits<double>::max(), 4).size(), 314U);
}

TEST(Padding, CountsCodePoints) {
  EXPECT_EQ(left("ab", 4), "ab  ");
  EXPECT_EQ(right("ab", 4), "  ab");
  EXPECT_EQ(right("größe", 6), " größe");
  EXPECT_EQ(left("longer", 3), "longer");
}

TEST(Brief, KeepsThreeDigits) {
  EXPECT_EQ(brief(0), "0.00");
  EXPECT_EQ(brief(9.516), "9.52");
  EXPECT_EQ(brief(9.996), "10.0");
  EXPECT_EQ(brief(52.14), "52.1");
  EXPECT_EQ(brief(521), "521");
  EXPECT_EQ(brief(999.6), "1.00k");
  EXPECT_EQ(brief(15234), "15.2k");
  EXPECT_EQ(brief(2.5e9), "2.50G");
  EXPECT_EQ(brief(2.5e12), "2500G");
}

TEST(Duration, NamesHoursOnlyWhereThereAre) {
  EXPECT_EQ(duration(0), "0:00");
  EXPECT_EQ(duration(7.4), "0:07");
  EXPECT_EQ(duration(727), "12:07");
  EXPECT_EQ(duration(3599.6), "1:00:00");
  EXPECT_EQ(duration(3727), "1:02:07");
  EXPECT_EQ(duration(-1), "0:00");
}

}  // namespace
}  // namespace seqtrain::log
