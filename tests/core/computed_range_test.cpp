#include <algorithm>
#include <ranges>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/computed_range.hpp>

namespace seqtrain {
namespace {

TEST(ComputedRange, IsARandomAccessRangeOfTheResults) {
  const ComputedRange squares{5, [](std::size_t i) { return i * i; }};
  static_assert(std::ranges::random_access_range<decltype(squares)>);
  static_assert(std::ranges::sized_range<decltype(squares)>);
  EXPECT_TRUE(std::ranges::equal(squares, std::vector<std::size_t>{0, 1, 4, 9, 16}));
  EXPECT_EQ(std::ranges::max(squares), 16u);
  EXPECT_EQ(squares[3], 9u);
  const auto begin = squares.begin();
  EXPECT_EQ(squares.end() - begin, 5);
  EXPECT_EQ(begin[2], 4u);
  EXPECT_EQ(*(1 + begin + 3 - 2), 4u);
  EXPECT_LT(begin, squares.end());
  auto place = squares.end();
  EXPECT_EQ(*--place, 16u);
  EXPECT_EQ(*place--, 16u);
  EXPECT_EQ(*place++, 9u);
  EXPECT_EQ(*place, 16u);
}

}  // namespace
}  // namespace seqtrain
