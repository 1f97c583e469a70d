#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/plan.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::data {
namespace {

using Lengths = std::vector<std::uint32_t>;

/// Returns lengths like those of sentence pairs: many around 35, few above 100.
Lengths some_lengths(std::size_t count) {
  random::Stream stream{11, random::Purpose::data};
  Lengths lengths(count);
  for (auto& length : lengths) {
    const auto wide = stream.below(10) == 0 ? 150 : 40;
    length = static_cast<std::uint32_t>(8 + stream.below(wide) + stream.below(wide) / 2);
  }
  return lengths;
}

std::vector<std::vector<std::uint32_t>> batches_of(const BatchPlan& plan) {
  std::vector<std::vector<std::uint32_t>> batches;
  for (std::size_t i = 0; i < plan.size(); ++i)
    batches.emplace_back(plan[i].begin(), plan[i].end());
  return batches;
}

std::size_t width_of(std::span<const std::uint32_t> rows, const Lengths& lengths,
                     const PlanOptions& options) {
  std::size_t longest = 0;
  for (const auto row : rows) longest = std::max<std::size_t>(longest, lengths[row]);
  return options.padded(longest);
}

double padding_share(const BatchPlan& plan, const Lengths& lengths) {
  std::size_t cells = 0;
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    cells += plan[i].size() * width_of(plan[i], lengths, {});
    for (const auto row : plan[i]) tokens += lengths[row];
  }
  return 1 - static_cast<double>(tokens) / static_cast<double>(cells);
}

TEST(BatchPlan, LeavesLongRowsAloneIfTheyMayBe) {
  const Lengths lengths{30, 10, 40, 10, 10, 10, 99};
  const PlanOptions options{.tokens_per_batch = 30, .long_rows_alone = true, .order = Order::file};
  EXPECT_EQ(batches_of(make_plan(lengths, options, 1, 0)),
            (std::vector<std::vector<std::uint32_t>>{{0}, {1}, {2}, {3, 4, 5}, {6}}));
}

TEST(BatchPlan, HasEachRowOnce) {
  for (const std::size_t count : {0, 1, 31, 32, 33, 5'000}) {
    const Lengths lengths = some_lengths(count);
    for (const auto order : {Order::bucket, Order::shuffle, Order::file}) {
      for (const std::size_t tokens : {0, 1'000}) {
        const BatchPlan plan = make_plan(
            lengths, {.tokens_per_batch = tokens, .order = order, .bucket_pool = 20}, 1, 2);
        std::vector<std::uint32_t> rows;
        for (const auto& batch : batches_of(plan)) {
          EXPECT_FALSE(batch.empty());
          rows.insert(rows.end(), batch.begin(), batch.end());
        }
        std::ranges::sort(rows);
        EXPECT_EQ(rows, detail::first_numbers(count));
      }
    }
  }
}

TEST(BatchPlan, FillsEveryBatchButOne) {
  const BatchPlan plan =
      make_plan(some_lengths(1'003), {.batch_size = 10, .bucket_pool = 10}, 1, 2);
  EXPECT_EQ(plan.size(), 101u);
  std::multiset<std::size_t> sizes;
  for (std::size_t i = 0; i < plan.size(); ++i) sizes.insert(plan[i].size());
  EXPECT_EQ(sizes.count(10), 100u);
  EXPECT_EQ(sizes.count(3), 1u);
}

TEST(BatchPlan, NeverExceedsTheCapOnTokens) {
  const Lengths lengths = some_lengths(5'000);
  for (const auto order : {Order::bucket, Order::shuffle, Order::file}) {
    for (const std::size_t multiple : {1, 8, 64}) {
      const PlanOptions options{
          .tokens_per_batch = 1'024, .pad_to_multiple_of = multiple, .order = order};
      const BatchPlan plan = make_plan(lengths, options, 3, 0);
      std::size_t cells = 0;
      for (std::size_t i = 0; i < plan.size(); ++i) {
        const std::size_t own = plan[i].size() * width_of(plan[i], lengths, options);
        ASSERT_LE(own, 1'024u);
        cells += own;
      }
      const std::size_t filled = order == Order::bucket ? 90 : 40;  // in percent
      EXPECT_GT(cells, plan.size() * 1'024 * filled / 100);
    }
  }
}

TEST(BatchPlan, NamesARowThatIsAboveTheCapAlone) {
  const Lengths lengths{5, 6, 17, 4};
  EXPECT_EQ(tests::problem_of([&] { make_plan(lengths, {.tokens_per_batch = 16}, 0, 0); }),
            "batches: tokens_per_batch: example 2 has 17 ids, more than a batch may have; a "
            "smaller max_length truncates it");
  EXPECT_THROW(make_plan(Lengths{17}, {.tokens_per_batch = 20, .pad_to_multiple_of = 8}, 0, 0),
               InputError);
  EXPECT_EQ(make_plan(Lengths{17}, {.tokens_per_batch = 17}, 0, 0).size(), 1u);
}

TEST(BatchPlan, FollowsFromLengthsSeedAndEpoch) {
  const Lengths lengths = some_lengths(2'000);
  const PlanOptions options{.batch_size = 16};
  const auto first = batches_of(make_plan(lengths, options, 5, 1));
  EXPECT_EQ(batches_of(make_plan(lengths, options, 5, 1)), first);
  EXPECT_NE(batches_of(make_plan(lengths, options, 5, 2)), first);
  EXPECT_NE(batches_of(make_plan(lengths, options, 6, 1)), first);
}

TEST(BatchPlan, IsTheSameOnEveryMachine) {
  const BatchPlan plan = make_plan(Lengths{3, 1, 4, 1, 5, 9, 2, 6}, {.batch_size = 3}, 42, 7);
  const std::vector<std::vector<std::uint32_t>> expected{{0, 2, 4}, {7, 5}, {1, 3, 6}};
  EXPECT_EQ(batches_of(plan), expected);
}

TEST(BatchPlan, KeepsBatchesOfSimilarLengthTogetherIfAsked) {
  const Lengths lengths = some_lengths(20'000);
  constexpr std::size_t together = 8;
  const PlanOptions options{.batch_size = 10, .batches_together = together};
  const BatchPlan plan = make_plan(lengths, options, 5, 1);
  const auto batches = batches_of(plan);
  ASSERT_EQ(batches.size(), 2'000u);
  std::size_t apart = 0;
  const auto longest = [&](std::size_t batch) {
    std::size_t length = 0;
    for (const auto row : batches[batch]) length = std::max<std::size_t>(length, lengths[row]);
    return length;
  };
  for (std::size_t i = 0; i < batches.size(); i += together) {
    const auto [a, b] = std::minmax({longest(i), longest(i + together - 1)});
    apart += b - a;
  }
  EXPECT_LT(apart, batches.size() / together * 2);  // in ids; 2 on average
  auto sorted = plan.order;
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, make_plan(lengths, {.batch_size = 10, .order = Order::file}, 5, 1).order);
}

TEST(BatchPlan, LeavesTheBatchesThatAreNoGroupAtTheEnd) {
  const BatchPlan plan =
      make_plan(some_lengths(110), {.batch_size = 10, .batches_together = 4}, 5, 1);
  ASSERT_EQ(plan.size(), 11u);
  EXPECT_EQ((std::vector<std::uint32_t>{plan.order.end() - 3, plan.order.end()}),
            (std::vector<std::uint32_t>{8, 9, 10}));
}

TEST(BatchPlan, KeepsTheFilesOrderIfAsked) {
  const BatchPlan plan =
      make_plan(Lengths{9, 1, 5, 7, 3}, {.batch_size = 2, .order = Order::file}, 1, 1);
  EXPECT_EQ(batches_of(plan), (std::vector<std::vector<std::uint32_t>>{{0, 1}, {2, 3}, {4}}));
}

TEST(BatchPlan, PadsLittleAndMixesBatches) {
  const Lengths lengths = some_lengths(20'000);
  const auto share = [&](const PlanOptions& options) {
    return padding_share(make_plan(lengths, options, 1, 1), lengths);
  };
  EXPECT_LT(share({}), 0.02);
  EXPECT_LT(share({}), share({.bucket_pool = 50}));
  EXPECT_LT(share({.bucket_pool = 50}), share({.bucket_pool = 20}));
  EXPECT_GT(share({.order = Order::shuffle}), 0.4);
  EXPECT_NEAR(share({.order = Order::shuffle}), share({.bucket_pool = 1}), 0.01);
  const BatchPlan plan = make_plan(lengths, {.batch_size = 32}, 1, 1);
  std::size_t rises = 0;
  for (std::size_t i = 1; i < plan.size(); ++i) {
    rises += lengths[plan[i].front()] > lengths[plan[i - 1].front()] ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(rises), static_cast<double>(plan.size()) / 2, 60);
}

TEST(BatchPlan, SortsLengthsOfAnySize) {
  const Lengths lengths{70'000, 3, 5'000'000, 4'096, 0, 4'095, 4'294'967'295, 70'000};
  std::vector<std::uint32_t> rows = detail::first_numbers(lengths.size());
  detail::LengthSorter{}.sort(rows, lengths);
  EXPECT_EQ(rows, (std::vector<std::uint32_t>{4, 1, 5, 3, 0, 7, 2, 6}));
}

TEST(BatchPlan, RefusesOptionsOutOfRange) {
  EXPECT_THROW(make_plan(Lengths{1}, {.batch_size = 0}, 0, 0), InputError);
  EXPECT_THROW(make_plan(Lengths{1}, {.pad_to_multiple_of = 0}, 0, 0), InputError);
  EXPECT_THROW(make_plan(Lengths{1}, {.bucket_pool = 0}, 0, 0), InputError);
}

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
