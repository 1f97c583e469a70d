#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/shard.hpp>

namespace seqtrain::data {
namespace {

std::vector<std::int64_t> owned_by(const Shard& shard, std::int64_t batches) {
  std::vector<std::int64_t> owned;
  for (std::int64_t i = 0; i < batches; ++i) {
    if (shard.owns(i)) owned.push_back(i);
  }
  return owned;
}

using Numbers = std::vector<std::int64_t>;

TEST(Shard, OwnsEverythingByDefault) {
  EXPECT_EQ(owned_by({}, 4), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(Shard{}.stride(), 1u);
}

TEST(Shard, DealsRunsOfBatchesToLeavesInTurn) {
  EXPECT_EQ(owned_by({.replicas = 3, .first = 1, .last = 2}, 8), (Numbers{1, 4, 7}));
  EXPECT_EQ(owned_by({.replicas = 3, .first = 1, .last = 3}, 8), (Numbers{1, 2, 4, 5, 7}));
  EXPECT_EQ(owned_by({.replicas = 2, .accumulation = 3, .first = 1, .last = 2}, 12),
            (Numbers{3, 4, 5, 9, 10, 11}));
}

TEST(Shard, TellsHowManyBatchesComeForEachOfItsOwn) {
  EXPECT_EQ((Shard{.replicas = 8, .first = 2, .last = 3}.stride()), 8u);
  EXPECT_EQ((Shard{.replicas = 8, .first = 0, .last = 3}.stride()), 3u);
  EXPECT_EQ((Shard{.replicas = 8, .first = 0, .last = 8}.stride()), 1u);
}

TEST(Shard, RefusesLeavesThatAreNone) {
  EXPECT_NO_THROW(Shard{}.validate());
  EXPECT_NO_THROW((Shard{.replicas = 4096, .first = 4095, .last = 4096}.validate()));
  for (const Shard& shard : {Shard{.replicas = 0, .last = 0}, Shard{.replicas = 4097},
                             Shard{.accumulation = 0}, Shard{.first = -1}, Shard{.first = 1},
                             Shard{.replicas = 2, .last = 3}, Shard{.replicas = 2, .last = 0}}) {
    EXPECT_THROW(shard.validate(), InputError);
  }
}

}  // namespace
}  // namespace seqtrain::data
