#include <gtest/gtest.h>

#include <seqtrain/text/models/merge_table.hpp>

namespace seqtrain::text {
namespace {

TEST(MergeTable, KnowsItsPairsAndNoOthers) {
  constexpr Id count = 3'000;
  MergeTable merges{count};
  for (Id i = 0; i < count; ++i) {
    merges.insert(i, 2 * i, {.rank = static_cast<std::uint32_t>(i), .result = -i});
  }
  for (Id i = 0; i < count; ++i) {
    const Merge merge = merges.find(i, 2 * i);
    EXPECT_EQ(merge.rank, static_cast<std::uint32_t>(i));
    EXPECT_EQ(merge.result, -i);
    EXPECT_EQ(merges.find(i, 2 * i + 1).rank, Merge::none);
    EXPECT_EQ(merges.find(-1, i).rank, Merge::none);
  }
}

TEST(MergeTable, TakesTheLastOfAPair) {
  MergeTable merges{2};
  merges.insert(1, 2, {.rank = 0, .result = 3});
  merges.insert(1, 2, {.rank = 1, .result = 4});
  EXPECT_EQ(merges.find(1, 2).result, 4);
}

TEST(MergeTable, MayBeEmpty) {
  EXPECT_EQ(MergeTable{}.find(0, 0).rank, Merge::none);
}

}  // namespace
}  // namespace seqtrain::text
