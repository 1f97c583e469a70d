#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/cpu/layout.hpp>

namespace seqtrain::model::cpu {
namespace {

constexpr std::size_t row_unit = 16;

Layout layout_of(std::vector<std::int32_t> lengths) {
  data::Batch batch;
  batch.rows = static_cast<std::int64_t>(lengths.size());
  batch.lengths = std::move(lengths);
  return Layout{batch, row_unit};
}

/// Every sequence is in one group, inside of its rows, and the groups follow each other.
void expect_whole(const Layout& layout, const std::vector<std::int32_t>& lengths) {
  ASSERT_EQ(layout.sequences().size(), lengths.size());
  std::size_t row = 0;
  std::size_t sequence = 0;
  std::size_t squares = 0;
  for (const auto& group : layout.groups()) {
    EXPECT_EQ(group.row, row);
    EXPECT_EQ(group.first, sequence);
    EXPECT_GT(group.end, group.first);
    std::size_t end = group.row;
    for (; sequence < group.end; ++sequence) {
      const auto& [begin, length, before] = layout.sequences()[sequence];
      EXPECT_EQ(begin, end);
      EXPECT_EQ(length, static_cast<std::size_t>(lengths[sequence]));
      EXPECT_EQ(before, squares);
      end += length;
      squares += length * length;
    }
    EXPECT_EQ(group.rows, round_up(end - group.row, row_unit));
    row += group.rows;
  }
  EXPECT_EQ(sequence, lengths.size());
  EXPECT_EQ(layout.rows(), round_up(row, 32));
}

TEST(Layout, HoldsEverySequence) {
  for (const std::vector<std::int32_t>& lengths : {std::vector<std::int32_t>{1},
                                                   {512},
                                                   {3, 3},
                                                   {7, 400, 2, 2, 2},
                                                   {256, 256, 256},
                                                   {5, 9, 14, 30, 31, 31, 33, 60, 128},
                                                   std::vector<std::int32_t>(64, 37)}) {
    expect_whole(layout_of(lengths), lengths);
  }
}

TEST(Layout, SharesSequencesOfOneLengthEvenly) {
  const auto layout = layout_of(std::vector<std::int32_t>(16, 30));
  EXPECT_EQ(layout.groups().size() % 2, 0U);
  for (const auto& group : layout.groups()) {
    EXPECT_NEAR(static_cast<double>(group.end - group.first),
                16.0 / static_cast<double>(layout.groups().size()), 1);
  }
}

TEST(Layout, GivesTwoThreadsSomethingToDoWhereItCan) {
  EXPECT_EQ(layout_of({4, 4}).groups().size(), 2U);
  EXPECT_EQ(layout_of({4}).groups().size(), 1U);
}

TEST(Layout, TellsTheLongestSequence) {
  EXPECT_EQ(layout_of({300, 10, 10, 10}).longest(), 300U);
}

TEST(Layout, RunsHoldAllGroupsTheLargerOnesFirst) {
  for (const std::size_t sequences : {1, 2, 16, 31, 64, 100}) {
    const auto layout = layout_of(std::vector<std::int32_t>(sequences, 37));
    for (const std::size_t threads : {1, 2, 3, 8, 64}) {
      std::size_t group = 0;
      std::size_t row = 0;
      std::size_t before = 2;
      for (const auto& run : layout.runs(threads)) {
        EXPECT_EQ(run.first, group);
        EXPECT_EQ(run.row, row);
        EXPECT_LE(run.end - run.first, before);
        before = run.end - run.first;
        for (; group < run.end; ++group) row += layout.groups()[group].rows;
        EXPECT_EQ(run.rows, row - run.row);
      }
      EXPECT_EQ(group, layout.groups().size());
    }
  }
}

TEST(Layout, RunsAreSharedEvenlyAmongTheThreads) {
  const auto layout = layout_of(std::vector<std::int32_t>(40, 32));
  ASSERT_EQ(layout.groups().size(), 10U);
  const auto sizes = [&](std::size_t threads) {
    std::vector<std::size_t> result;
    for (const auto& run : layout.runs(threads)) result.push_back(run.end - run.first);
    return result;
  };
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(sizes(1), (Sizes{2, 2, 2, 2, 2}));
  EXPECT_EQ(sizes(2), (Sizes{2, 2, 2, 2, 1, 1}));
  EXPECT_EQ(sizes(4), (Sizes{2, 2, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(sizes(16), Sizes(10, 1));
}

}  // namespace
}  // namespace seqtrain::model::cpu
