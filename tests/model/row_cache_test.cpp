#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/model/row_cache.hpp>

namespace seqtrain::model {
namespace {

data::Batch batch_of(std::uint64_t set, std::vector<std::int64_t> rows) {
  data::Batch batch;
  batch.rows = std::ssize(rows);
  batch.row_ids = std::move(rows);
  batch.set = set;
  return batch;
}

using Floats = std::vector<float>;

TEST(RowCache, FindsRowsInOtherBatches) {
  RowCache cache;
  cache.keep(batch_of(1, {3, 1}), Floats{30, 31, 10, 11});
  cache.keep(batch_of(1, {7}), Floats{70, 71});
  Floats found(6);
  EXPECT_TRUE(cache.find(batch_of(1, {1, 7, 3}), found));
  EXPECT_EQ(found, (Floats{10, 11, 70, 71, 30, 31}));
  EXPECT_FALSE(cache.find(batch_of(1, {1, 2, 3}), found));
}

TEST(RowCache, KeepsSetsApart) {
  RowCache cache;
  cache.keep(batch_of(1, {0}), Floats{1});
  cache.keep(batch_of(2, {0}), Floats{2});
  Floats found(1);
  EXPECT_TRUE(cache.find(batch_of(2, {0}), found));
  EXPECT_EQ(found, Floats{2});
  EXPECT_FALSE(cache.find(batch_of(3, {0}), found));
  cache.clear();
  EXPECT_FALSE(cache.find(batch_of(1, {0}), found));
}

TEST(RowCache, KeepsNothingOfRowsWhoseSetIsNotTold) {
  RowCache cache;
  cache.keep(batch_of(0, {0}), Floats{1});
  Floats found(1);
  EXPECT_FALSE(cache.find(batch_of(0, {0}), found));
}

}  // namespace
}  // namespace seqtrain::model
