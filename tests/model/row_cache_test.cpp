#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <seqtrain/model/row_cache.hpp>
#include <seqtrain/tensor/parameter.hpp>

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

TEST(RowCache, KeepsOnlyRowsThatFitIntoItsMemory) {
  RowCache cache{2 * RowCache::bytes_a_row(1)};
  cache.keep(batch_of(1, {0, 1, 2}), Floats{10, 11, 12});
  cache.keep(batch_of(1, {1}), Floats{21});
  Floats found(2);
  EXPECT_TRUE(cache.find(batch_of(1, {0, 1}), found));
  EXPECT_EQ(found, (Floats{10, 21}));
  EXPECT_FALSE(cache.find(batch_of(1, {1, 2}), found));
  cache.clear();
  cache.keep(batch_of(1, {2, 1}), Floats{12, 11});
  EXPECT_TRUE(cache.find(batch_of(1, {1, 2}), found));
}

TEST(RowCache, WarnsOfStatesThatDoNotFit) {
  EXPECT_EQ(states_warning(1000, 384, std::size_t{1} << 30), "");
  EXPECT_EQ(states_warning(10'000'000, 768, std::size_t{4} << 30),
            "the frozen encoder's states of all examples take 29869 MiB, and 4096 MiB of memory "
            "may be used for them, so every epoch computes many of them again");
}

TEST(RowCache, KeepsNothingOfRowsWhoseSetIsNotTold) {
  RowCache cache;
  cache.keep(batch_of(0, {0}), Floats{1});
  Floats found(1);
  EXPECT_FALSE(cache.find(batch_of(0, {0}), found));
}

TEST(FrozenStates, AreKeptWhileAHeadsBuffersChange) {
  const at::Tensor norm = at::ones({2}), mean = at::ones({2});
  const std::vector<tensor::Parameter> parameters{
      {.name = "model.final_norm.weight", .value = norm, .gradient = {}},
      {.name = "head.norm.running_mean", .value = mean, .gradient = {}}};
  FrozenStates states{parameters};
  float computed = 0;
  const auto compute = [&] { return at::full({2, 1}, ++computed); };
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const std::int64_t row : {0, 2}) {
      (void)states(batch_of(1, {row, row + 1}), compute);
      mean.add_(1);
    }
  }
  EXPECT_EQ(computed, 2);
  norm.add_(1);
  EXPECT_EQ(states(batch_of(1, {0, 1}), compute)[0].item<float>(), 3);
}

}  // namespace
}  // namespace seqtrain::model
