#include <gtest/gtest.h>

#include <seqtrain/train/pairs.hpp>

namespace seqtrain::train {
namespace {

TEST(Pairs, TellTheValueOfAName) {
  const Pairs pairs{{"a", "1"}, {"b", "2"}, {"a", "3"}};
  EXPECT_EQ(value_in(pairs, "a"), "1");
  EXPECT_EQ(value_in(pairs, "b"), "2");
  EXPECT_EQ(value_in(pairs, "c"), "");
}

}  // namespace
}  // namespace seqtrain::train
