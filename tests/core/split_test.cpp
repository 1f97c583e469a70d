#include <gtest/gtest.h>

#include <seqtrain/core/split.hpp>

namespace seqtrain {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Split, ReturnsThePartsBetweenSeparators) {
  EXPECT_EQ(split("a/bc/d", '/'), (Parts{"a", "bc", "d"}));
  EXPECT_EQ(split("abc", '/'), Parts{"abc"});
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split(",a,,", ','), (Parts{"", "a", "", ""}));
}

}  // namespace
}  // namespace seqtrain
