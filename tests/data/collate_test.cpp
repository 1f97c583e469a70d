#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/collate.hpp>

namespace seqtrain::data {
namespace {

using Ids = std::vector<std::int32_t>;

EncodedSet some_rows() {
  EncodedSet set{100, 9};
  set.push_back(Ids{1, 2, 3}, 2, 4);
  set.push_back(Ids{5}, 1, -1);
  set.push_back(Ids{6, 7, 8, 10, 11}, 5, 0);
  return set;
}

TEST(Collate, PadsToTheLongestRow) {
  const EncodedSet set = some_rows();
  Batch batch;
  collate(set, std::vector<std::uint32_t>{1, 0}, {}, batch);
  EXPECT_EQ(batch.rows, 2);
  EXPECT_EQ(batch.width, 3);
  EXPECT_EQ(batch.input_ids, (Ids{5, 9, 9, 1, 2, 3}));
  EXPECT_EQ(batch.token_type_ids, (Ids{0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(batch.lengths, (Ids{1, 3}));
  EXPECT_EQ(batch.labels, (std::vector<std::int64_t>{-1, 4}));
  EXPECT_EQ(batch.row_ids, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(batch.tokens(), 4);
}

TEST(Collate, RoundsTheWidthUpAndReusesABatch) {
  const EncodedSet set = some_rows();
  Batch batch;
  collate(set, std::vector<std::uint32_t>{2, 0, 1}, {.pad_to_multiple_of = 4}, batch);
  EXPECT_EQ(batch.width, 8);
  EXPECT_EQ(batch.input_ids.size(), 24u);
  collate(set, std::vector<std::uint32_t>{0}, {.pad_to_multiple_of = 4}, batch);
  EXPECT_EQ(batch.input_ids, (Ids{1, 2, 3, 9}));
  EXPECT_EQ(batch.token_type_ids, (Ids{0, 0, 1, 0}));
}

TEST(Collate, GivesAnEmptyRowAColumn) {
  EncodedSet set{10, 3};
  set.push_back(Ids{}, 0, 0);
  Batch batch;
  collate(set, std::vector<std::uint32_t>{0}, {}, batch);
  EXPECT_EQ(batch.input_ids, Ids{3});
}

TEST(Collate, TakesTheTargetsOfItsRows) {
  EncodedSet set{100, 9, 2};
  set.push_back(Ids{1}, 1, 0, std::vector<float>{1, 0});
  set.push_back(Ids{2}, 1, 0, std::vector<float>{0.5F, -3});
  set.push_back(Ids{3}, 1, 0, std::vector<float>{0, 1});
  Batch batch;
  collate(set, std::vector<std::uint32_t>{2, 1}, {}, batch);
  EXPECT_EQ(batch.targets, (std::vector<float>{0, 1, 0.5F, -3}));
  collate(some_rows(), std::vector<std::uint32_t>{0}, {}, batch);
  EXPECT_TRUE(batch.targets.empty());
}

}  // namespace
}  // namespace seqtrain::data
