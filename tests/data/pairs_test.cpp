#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/pairs.hpp>

namespace seqtrain::data {
namespace {

/// Returns a set whose pair i has rows of 1 + i and 2 ids.
EncodedSet pairs(std::size_t count) {
  EncodedSet set{100, 0};
  for (std::size_t i = 0; i < count; ++i) {
    set.push_back(std::vector<std::int32_t>(1 + i, 3), 1 + i, 0);
    set.push_back(std::vector<std::int32_t>{4, 5}, 2, 0);
  }
  return set;
}

TEST(InPairs, KeepsTheRowsOfAPairTogether) {
  const auto set = pairs(11);
  const auto options = in_pairs(set, {.plan = {.batch_size = 4}, .seed = 5});
  for (const std::int64_t epoch : {0, 1}) {
    const auto plan = options.plan_of(epoch);
    ASSERT_EQ(plan.size(), 3U);
    std::set<std::uint32_t> seen;
    for (std::size_t batch = 0; batch < plan.size(); ++batch) {
      const auto rows = plan[batch];
      EXPECT_LE(rows.size(), 8U);
      ASSERT_EQ(rows.size() % 2, 0U);
      for (std::size_t i = 0; i < rows.size(); i += 2) {
        EXPECT_EQ(rows[i] % 2, 0U);
        EXPECT_EQ(rows[i + 1], rows[i] + 1);
      }
      seen.insert(rows.begin(), rows.end());
    }
    EXPECT_EQ(seen.size(), 22U);
  }
  const auto many = pairs(60);  // 15 batches, which do not come in one order twice by chance
  const auto of_many = in_pairs(many, {.plan = {.batch_size = 4}, .seed = 5});
  EXPECT_NE(of_many.plan_of(0).rows, of_many.plan_of(1).rows);
  EXPECT_EQ(of_many.plan_of(1).rows, in_pairs(many, of_many).plan_of(1).rows);
}

TEST(InPairs, KeepsWithinTheTokensOfABatch) {
  auto set = pairs(11);
  auto options = in_pairs(set, {.plan = {.tokens_per_batch = 50, .pad_to_multiple_of = 4}});
  BucketLoader loader{std::move(set), std::move(options)};
  std::int64_t rows = 0;
  for (const Batch& batch : loader.epoch(0)) {
    EXPECT_LE(batch.rows * batch.width, 50);
    rows += batch.rows;
  }
  EXPECT_EQ(rows, 22);
}

TEST(RowsOfPairs, AreTwoOfEachExample) {
  const std::vector<std::size_t> examples{0, 3};
  EXPECT_EQ(rows_of_pairs(std::span<const std::size_t>{examples}),
            (std::vector<std::size_t>{0, 1, 6, 7}));
}

}  // namespace
}  // namespace seqtrain::data
