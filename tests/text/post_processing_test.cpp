#include <gtest/gtest.h>

#include <seqtrain/text/post_processing.hpp>

namespace seqtrain::text {
namespace {

TEST(LongestFirst, LeavesAloneWhatFits) {
  EXPECT_EQ(longest_first({3, 5}, 8), (PairLengths{3, 5}));
  EXPECT_EQ(longest_first({0, 0}, 0), (PairLengths{0, 0}));
}

TEST(LongestFirst, CutsTheLongerFirst) {
  EXPECT_EQ(longest_first({2, 9}, 8), (PairLengths{2, 6}));
  EXPECT_EQ(longest_first({9, 2}, 8), (PairLengths{6, 2}));
  EXPECT_EQ(longest_first({100, 0}, 8), (PairLengths{8, 0}));
}

TEST(LongestFirst, GivesTheOddIdToTheHalfThatWasLonger) {
  EXPECT_EQ(longest_first({6, 7}, 9), (PairLengths{4, 5}));
  EXPECT_EQ(longest_first({7, 6}, 9), (PairLengths{5, 4}));
  EXPECT_EQ(longest_first({7, 7}, 9), (PairLengths{4, 5}));
  EXPECT_EQ(longest_first({70, 60}, 9), (PairLengths{5, 4}));
  EXPECT_EQ(longest_first({70, 60}, 0), (PairLengths{0, 0}));
  EXPECT_EQ(longest_first({70, 60}, 1), (PairLengths{1, 0}));
}

TEST(LongestFirst, GivesTheOddIdToTheFirstTextIfAsked) {
  EXPECT_EQ(longest_first({6, 7}, 9, true), (PairLengths{5, 4}));
  EXPECT_EQ(longest_first({7, 6}, 9, true), (PairLengths{5, 4}));
  EXPECT_EQ(longest_first({7, 7}, 9, true), (PairLengths{5, 4}));
  EXPECT_EQ(longest_first({4, 70}, 9, true), (PairLengths{4, 5}));
}

TEST(CutFirst, KeepsTheSecondText) {
  EXPECT_EQ(cut_first({3, 5}, 8), (PairLengths{3, 5}));
  EXPECT_EQ(cut_first({9, 5}, 8), (PairLengths{3, 5}));
  EXPECT_EQ(cut_first({2, 8}, 8), (PairLengths{0, 8}));
}

TEST(LongestFirst, FillsTheBudgetWheneverItCuts) {
  for (std::size_t a = 0; a < 12; ++a) {
    for (std::size_t b = 0; b < 12; ++b) {
      for (std::size_t budget = 0; budget < a + b; ++budget) {
        const auto kept = longest_first({a, b}, budget);
        ASSERT_EQ(kept.first + kept.second, budget) << a << ' ' << b;
        ASSERT_LE(kept.first, a);
        ASSERT_LE(kept.second, b);
      }
    }
  }
}

}  // namespace
}  // namespace seqtrain::text
