#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/concepts.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/data/loader.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::data {
namespace {

static_assert(Loader<BucketLoader>);
static_assert(std::ranges::input_range<decltype(std::declval<BucketLoader&>().epoch(0))>);

using Ids = std::vector<std::int32_t>;

EncodedSet some_rows(std::size_t count) {
  EncodedSet set{1'000, 0};
  random::Stream stream{4, random::Purpose::data};
  for (std::size_t row = 0; row < count; ++row) {
    Ids ids(1 + stream.below(60));
    for (auto& id : ids) id = static_cast<std::int32_t>(stream.below(1'000));
    set.push_back(ids, stream.below(ids.size() + 1), static_cast<std::int32_t>(row % 3));
  }
  return set;
}

using Seen =
    std::vector<std::tuple<std::int64_t, std::int64_t, Ids, Ids, Ids, std::vector<std::int64_t>>>;

Seen batches_of(BucketLoader& loader, std::int64_t epoch, std::int64_t first_batch = 0) {
  Seen seen;
  for (const Batch& batch : loader.epoch(epoch, first_batch)) {
    seen.emplace_back(batch.epoch, batch.index, batch.input_ids, batch.token_type_ids,
                      batch.lengths, batch.row_ids);
  }
  return seen;
}

TEST(BucketLoader, GivesTheSameBatchesAtAnyNumberOfWorkers) {
  const EncodedSet set = some_rows(1'000);
  BucketLoader plain{set, {.plan = {.batch_size = 7}, .seed = 3, .workers = 0}};
  for (const std::size_t workers : {1, 2, 7}) {
    for (const std::size_t prefetch : {0, 1, 20}) {
      BucketLoader loader{
          set, {.plan = {.batch_size = 7}, .seed = 3, .workers = workers, .prefetch = prefetch}};
      EXPECT_EQ(batches_of(loader, 2), batches_of(plain, 2));
    }
  }
}

TEST(BucketLoader, CountsAndNumbersItsBatches) {
  BucketLoader loader{some_rows(100), {.plan = {.tokens_per_batch = 300}}};
  EXPECT_EQ(loader.examples(), 100);
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    const auto seen = batches_of(loader, epoch);
    EXPECT_EQ(loader.batches_in(epoch), static_cast<std::int64_t>(seen.size()));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      EXPECT_EQ(std::get<0>(seen[i]), epoch);
      EXPECT_EQ(std::get<1>(seen[i]), static_cast<std::int64_t>(i));
    }
  }
  EXPECT_NE(batches_of(loader, 0), batches_of(loader, 1));
}

TEST(BucketLoader, RefusesAPlanThatDoesNotFitItsSet) {
  const auto problem = [](const BatchPlan& plan) {
    return tests::problem_of([&] {
      BucketLoader loader{some_rows(3), {.plan_of = [&](std::int64_t) { return plan; }}};
    });
  };
  const auto fitting = plan_in_order({2, 0, 1, 1}, 2);
  BucketLoader loader{some_rows(3), {.plan_of = [&](std::int64_t) { return fitting; }}};
  EXPECT_EQ(batches_of(loader, 0).size(), 2U);
  EXPECT_EQ(problem({}), "the plan of epoch 0 has no batch");
  EXPECT_EQ(problem(plan_in_order({0, 3}, 2)),
            "the plan of epoch 0 has row 3, but the set has 3 rows, which count from 0");
  const std::string offsets = "the plan of epoch 0 has offsets that are not in order or end after";
  EXPECT_EQ(problem({{0, 1}, {0, 3}, {0}}), offsets + " its 2 rows");
  EXPECT_EQ(problem({{0, 1}, {1, 0}, {0}}), offsets + " its 2 rows");
  EXPECT_EQ(problem({{0, 1}, {}, {0}}), offsets + " its 2 rows");
  EXPECT_EQ(problem({{0, 1}, {0, 2}, {1}}),
            "the plan of epoch 0 has a batch without rows: group 1");
  EXPECT_EQ(problem({{0, 1}, {0, 0, 2}, {0, 1}}),
            "the plan of epoch 0 has a batch without rows: group 0");
  EXPECT_EQ(tests::problem_of([] { (void)plan_in_order({0}, 0); }),
            "batch_size: must be at least 1");
}

TEST(BucketLoader, BeginsAtAnyBatch) {
  BucketLoader loader{some_rows(100), {.plan = {.batch_size = 8}}};
  const auto whole = batches_of(loader, 1);
  for (std::int64_t first = 0; first <= 13; ++first) {
    EXPECT_EQ(batches_of(loader, 1, first), Seen(whole.begin() + first, whole.end()));
  }
  EXPECT_THROW((void)loader.epoch(1, 14), InputError);
  EXPECT_THROW((void)loader.epoch(1, -1), InputError);
}

TEST(BucketLoader, MayBeLeftEarly) {
  BucketLoader loader{some_rows(500), {.plan = {.batch_size = 4}, .workers = 3}};
  for (int taken = 0; taken < 10; ++taken) {
    int left = taken;
    for (const Batch& batch : loader.epoch(taken)) {
      ASSERT_GT(batch.rows, 0);
      if (left-- == 0) break;
    }
  }
  const auto untouched = loader.epoch(0);
}

TEST(BucketLoader, MayMoveWhileAnEpochRuns) {
  BucketLoader first{some_rows(200), {.plan = {.batch_size = 4}}};
  const auto expected = batches_of(first, 0);
  auto batches = first.epoch(0);
  BucketLoader second{std::move(first)};
  std::size_t count = 0;
  for (const Batch& batch : batches) ASSERT_EQ(batch.input_ids, std::get<2>(expected[count++]));
  EXPECT_EQ(count, expected.size());
}

TEST(BucketLoader, RefusesBadOptionsAtOnce) {
  EXPECT_THROW((BucketLoader{some_rows(9), {.plan = {.batch_size = 0}}}), InputError);
  EXPECT_THROW((BucketLoader{some_rows(50), {.plan = {.tokens_per_batch = 10}}}), InputError);
  EXPECT_THROW((BucketLoader{some_rows(9), {.workers = 1'000'000}}), InputError);
  EXPECT_THROW((BucketLoader{some_rows(9), {.prefetch = 1'000'000}}), InputError);
  EXPECT_THROW((BucketLoader{some_rows(9), {.shard = {.replicas = 0}}}), InputError);
}

std::vector<Batch> copies_of(BucketLoader& loader, std::int64_t epoch) {
  std::vector<Batch> copies;
  for (const Batch& batch : loader.epoch(epoch)) copies.push_back(batch);
  return copies;
}

/// Returns all of a batch except its ids and its set's number, which differs between loaders.
auto description_of(const Batch& batch) {
  return std::tie(batch.epoch, batch.index, batch.rows, batch.width, batch.lengths, batch.labels,
                  batch.row_ids);
}

TEST(BucketLoader, SharesAnEpochAmongProcesses) {
  const EncodedSet set = some_rows(1'000);
  const PlanOptions plan{.batch_size = 7, .pad_to_multiple_of = 4};
  BucketLoader whole{set, {.plan = plan, .seed = 3}};
  const auto expected = copies_of(whole, 1);
  const auto expect_parts_of = [&](const std::vector<Shard>& shards, std::size_t workers) {
    std::vector<int> owned(expected.size());
    for (const Shard& shard : shards) {
      BucketLoader loader{set, {.plan = plan, .seed = 3, .workers = workers, .shard = shard}};
      const auto batches = copies_of(loader, 1);
      ASSERT_EQ(batches.size(), expected.size());
      for (std::size_t i = 0; i < batches.size(); ++i) {
        const bool own = shard.owns(static_cast<std::int64_t>(i));
        ASSERT_EQ(description_of(batches[i]), description_of(expected[i]));
        ASSERT_NE(batches[i].set, 0u);
        ASSERT_EQ(batches[i].input_ids.empty(), !own);
        ASSERT_EQ(batches[i].input_ids, own ? expected[i].input_ids : Ids{});
        ASSERT_EQ(batches[i].token_type_ids, own ? expected[i].token_type_ids : Ids{});
        owned[i] += own ? 1 : 0;
      }
    }
    EXPECT_EQ(owned, std::vector<int>(expected.size(), 1));
  };
  for (const std::size_t workers : {0, 1, 3}) {
    for (const std::int64_t accumulation : {1, 3, 1'000}) {
      const auto leaves = [&](std::int64_t first, std::int64_t last) {
        return Shard{.replicas = 4, .accumulation = accumulation, .first = first, .last = last};
      };
      expect_parts_of({leaves(0, 4)}, workers);
      expect_parts_of({leaves(0, 1), leaves(1, 4)}, workers);
      expect_parts_of({leaves(0, 1), leaves(1, 2), leaves(2, 3), leaves(3, 4)}, workers);
    }
  }
}

TEST(BucketLoader, DescribesTargets) {
  EncodedSet set{10, 0, 2};
  for (const float x : {1.F, 3.F}) set.push_back(Ids{1}, 1, 0, std::vector<float>{x, x + 1});
  BucketLoader loader{set,
                      {.plan = {.batch_size = 1, .order = Order::file},
                       .shard = {.replicas = 2, .first = 1, .last = 2}}};
  const auto batches = copies_of(loader, 0);
  EXPECT_TRUE(batches.at(0).input_ids.empty());
  EXPECT_EQ(batches.at(0).targets, (std::vector<float>{1, 2}));
  EXPECT_EQ(batches.at(1).targets, (std::vector<float>{3, 4}));
}

TEST(BucketLoader, TellsItsSetFromOthers) {
  const EncodedSet rows = some_rows(30);
  BucketLoader one{rows};
  BucketLoader other{rows};
  const auto set_of = [](BucketLoader& loader, std::int64_t epoch) {
    return loader.epoch(epoch).begin()->set;
  };
  const auto number = set_of(one, 0);
  EXPECT_NE(number, 0u);
  EXPECT_EQ(set_of(one, 1), number);
  EXPECT_NE(set_of(other, 0), number);
  BucketLoader moved{std::move(one)};
  EXPECT_EQ(set_of(moved, 0), number);
}

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
