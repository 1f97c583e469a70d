#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/text/models/merging_word.hpp>

namespace seqtrain::text {
namespace {

using Key = std::pair<std::uint32_t, std::uint32_t>;

/// Pushes and pops in turn and compares with a sorted set. With `any_order` new ranks may be lower
/// than the last one popped.
void compare_with_a_set(std::size_t expected_size, std::uint32_t ranks, bool any_order) {
  std::mt19937 random{ranks};
  MergeQueue queue{expected_size};
  std::multiset<Key> expected;
  Key last{0, 0};
  for (int i = 0; i < 20'000; ++i) {
    if (expected.empty() || random() % 5 < (i < 10'000 ? 3u : 1u)) {
      const Key key{static_cast<std::uint32_t>(random() % ranks), random()};
      const Key pushed = any_order ? key : std::max(key, last);
      queue.push({pushed.first, pushed.second});
      expected.insert(pushed);
      continue;
    }
    const auto [rank, position] = queue.pop();
    last = {rank, position};
    ASSERT_EQ(last, *expected.begin());
    expected.erase(expected.begin());
    ASSERT_EQ(queue.empty(), expected.empty());
  }
}

TEST(MergeQueue, GivesTheLowestRankThenTheLeftmost) {
  for (const std::uint32_t ranks : {1u, 2u, 50'000u, 0xFFFFFFFFu}) {
    for (const std::size_t expected : {10u, 1'000'000u}) {
      compare_with_a_set(expected, ranks, false);
      compare_with_a_set(expected, ranks, true);
    }
  }
}

TEST(MergeQueue, GivesEqualEntriesAsOftenAsTheyWerePushed) {
  MergeQueue queue{1'000'000};
  for (int i = 0; i < 3; ++i) queue.push({7, 9});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.pop().position, 9u);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace seqtrain::text
