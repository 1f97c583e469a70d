#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/hold_out.hpp>

#include "support/encode_text.hpp"
#include "support/letter_tokenizer.hpp"
#include "support/problem_of.hpp"
#include "support/row_of.hpp"

namespace seqtrain::data {
namespace {

TEST(RandomSplit, LeavesALabelOfOneRowToTheTrainingPart) {
  const std::vector<std::int32_t> labels{0, 0, 0, 0, 0, 1, 2, 2};
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto split = split_by_label(labels, 0.5, seed);
    EXPECT_EQ(split.held_out.size(), 4u);
    EXPECT_EQ(std::ranges::count(split.train, 5u), 1);
    EXPECT_TRUE(std::ranges::is_sorted(split.held_out));
  }
  EXPECT_THROW((void)split_by_label(std::vector<std::int32_t>{0, 1}, 0.5, 1), InputError);
}

TEST(RandomSplit, RefusesTooFewRowsAndSharesOutOfRange) {
  const std::vector<std::int32_t> labels(10), one(1);
  EXPECT_THROW((void)split_by_label(one, 0.5, 1), InputError);
  EXPECT_THROW((void)split_by_label(labels, 1, 1), InputError);
  EXPECT_THROW((void)split_by_label(labels, 0, 1), InputError);
}

const tests::LetterTokenizer by_letters;

/// Returns `count` texts, every fourth of them positive.
EncodedFile reviews(std::size_t count) {
  std::string rows = "text\tlabel\nx\t-\n";
  for (std::size_t i = 0; i < count; ++i) {
    rows += std::string(i % 30 + 1, static_cast<char>('a' + i % 26)) + "\t" +
            (i % 4 == 0 ? "1" : "0") + "\n";
  }
  return tests::encode_text({.text = rows, .name = "f"}, by_letters, Labels::sentiment(),
                            {.encode = {.max_length = 20}});
}

std::size_t positive(const EncodedSet& set) {
  std::size_t count = 0;
  for (std::size_t row = 0; row < set.size(); ++row) count += set.label(row) == 1 ? 1 : 0;
  return count;
}

TEST(HoldOut, SplitsEachLabelAlike) {
  const auto whole = reviews(1000);
  const auto parts = hold_out(whole, {.share = 0.1, .seed = 7});
  EXPECT_EQ(parts.dev.set.size(), 100u);
  EXPECT_EQ(parts.train.set.size(), 900u);
  EXPECT_EQ(positive(parts.dev.set), 25u);
  EXPECT_EQ(positive(parts.train.set), 225u);
  EXPECT_EQ(parts.dev.total, 100u);
  EXPECT_EQ(parts.train.left_out, 1u);
  EXPECT_EQ(parts.dev.left_out, 0u);
  EXPECT_EQ(parts.train.at_max_length() + parts.dev.at_max_length(), whole.at_max_length());
}

TEST(HoldOut, KeepsEachExampleInOneOfTheParts) {
  const auto whole = reviews(203);
  const auto parts = hold_out(whole, {.share = 0.25, .seed = 1});
  std::size_t dev = 0, train = 0;
  for (std::size_t row = 0; row < whole.set.size(); ++row) {
    const bool held_out = dev < parts.dev_rows.size() && parts.dev_rows[dev] == row;
    const auto& set = held_out ? parts.dev.set : parts.train.set;
    const std::size_t there = held_out ? dev++ : train++;
    ASSERT_EQ(tests::row_of(set, there), tests::row_of(whole.set, row));
    ASSERT_EQ(set.label(there), whole.set.label(row));
    ASSERT_EQ(set.first_segment(there), whole.set.first_segment(row));
  }
  EXPECT_EQ(dev, parts.dev.set.size());
  EXPECT_EQ(train, parts.train.set.size());
}

TEST(HoldOut, FollowsFromTheSeed) {
  const auto whole = reviews(200);
  const auto rows = [&](std::uint64_t seed) {
    return hold_out(whole, {.share = 0.2, .seed = seed}).dev_rows;
  };
  EXPECT_EQ(rows(3), rows(3));
  EXPECT_NE(rows(3), rows(4));
}

TEST(HoldOut, KeepsTheDevSetWhateverPartOfTheRestIsTrainedOn) {
  const auto whole = reviews(200);
  const auto all = hold_out(whole, {.share = 0.2, .seed = 3});
  const auto half = hold_out(whole, {.share = 0.2, .seed = 3, .train_fraction = 0.5});
  EXPECT_EQ(half.dev_rows, all.dev_rows);
  EXPECT_EQ(half.train.set.size(), 80u);
  EXPECT_EQ(half.train.total, 160u);
  EXPECT_EQ(half.train_rows.size(), 80u);
  EXPECT_EQ(tests::row_of(half.train.set, 79), tests::row_of(whole.set, half.train_rows[79]));
  EXPECT_EQ(positive(half.train.set), 20u);
}

TEST(HoldOut, RefusesWhatLeavesNoExample) {
  EXPECT_NE(tests::problem_of([] {
              (void)hold_out(reviews(4), {.share = 0.01});
            }).find("holds out no row of 4"),
            std::string::npos);
  EXPECT_NE(tests::problem_of([] {
              (void)hold_out(reviews(4), {.share = 1});
            }).find("above 0 and below 1"),
            std::string::npos);
}

TEST(HoldOut, LeavesRowsWithoutALabelInTheTrainingSet) {
  std::vector<std::int32_t> labels(40, -1);
  for (std::size_t row = 0; row < labels.size(); row += 2) labels[row] = row % 4 == 0 ? 0 : 1;
  const auto split = split_by_label(labels, 0.2, 3);
  EXPECT_EQ(split.held_out.size(), 4U);
  EXPECT_EQ(split.train.size(), 36U);
  EXPECT_TRUE(std::ranges::is_sorted(split.train));
  for (const std::size_t row : split.held_out) EXPECT_GE(labels[row], 0);
}

/// Returns the names of groups of `size` rows each.
std::vector<std::string> groups_of(std::size_t rows, std::size_t size) {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < rows; ++row) names.push_back("g" + std::to_string(row / size));
  return names;
}

TEST(SplitByGroup, KeepsAGroupOnOneSideAndTheSharesOfLabels) {
  std::vector<std::int32_t> labels;
  for (std::size_t row = 0; row < 400; ++row) labels.push_back(row / 4 % 5 == 0 ? 1 : 0);
  const auto groups = groups_of(labels.size(), 4);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto split = split_by_group(labels, groups, 0.2, seed);
    EXPECT_EQ(split.held_out.size(), 80U);
    EXPECT_EQ(split.train.size(), 320U);
    EXPECT_EQ(std::ranges::count_if(split.held_out, [&](auto row) { return labels[row] == 1; }),
              16);
    for (const std::size_t row : split.held_out) {
      EXPECT_EQ(std::ranges::count(split.train, row / 4 * 4), 0) << row;
    }
    EXPECT_TRUE(std::ranges::is_sorted(split.held_out));
    EXPECT_TRUE(std::ranges::is_sorted(split.train));
  }
  EXPECT_NE(split_by_group(labels, groups, 0.2, 1).held_out,
            split_by_group(labels, groups, 0.2, 2).held_out);
}

TEST(SplitByGroup, LeavesAGroupOnEachSide) {
  const std::vector<std::int32_t> labels(10);
  std::vector<std::string> two(10, "a");
  two.back() = "b";
  for (const double share : {0.01, 0.5, 0.99}) {
    const auto split = split_by_group(labels, two, share, 1);
    EXPECT_FALSE(split.train.empty()) << share;
    EXPECT_FALSE(split.held_out.empty()) << share;
  }
  EXPECT_EQ(tests::problem_of(
                [&] { (void)split_by_group(labels, std::vector<std::string>(10, "a"), 0.5, 1); }),
            "split: groups: must be two or more");
}

TEST(SplitByGroup, HoldsOutNoGroupWithARowWithoutALabel) {
  const std::vector<std::int32_t> labels{0, -1, 0, 0, 1, 1};
  const auto split = split_by_group(labels, groups_of(6, 2), 0.4, 1);
  EXPECT_EQ(std::ranges::count(split.held_out, 0U) + std::ranges::count(split.held_out, 1U), 0);
  EXPECT_EQ(tests::problem_of([] {
              (void)split_by_group(std::vector<std::int32_t>(4, -1), groups_of(4, 2), 0.5, 1);
            }),
            "split: share: holds out no group");
}

TEST(HoldOut, TakesWholeGroups) {
  const auto whole = reviews(200);
  const auto groups = groups_of(200, 10);
  const auto parts = hold_out(whole, {.share = 0.2, .seed = 3, .groups = groups});
  EXPECT_EQ(parts.dev.set.size(), 40U);
  EXPECT_EQ(parts.train.set.size(), 160U);
  for (const std::size_t row : parts.dev_rows) {
    EXPECT_EQ(std::ranges::count(parts.dev_rows, row / 10 * 10), 1) << row;
  }
}

TEST(SampleByLabel, HasTheSharesOfLabelsInASortedFile) {
  std::vector<std::int32_t> labels(1000, 0);
  for (std::size_t row = 800; row < labels.size(); ++row) labels[row] = 1;
  labels.back() = 2;
  const auto sample = sample_by_label(labels, 0.04, "f");
  const auto of_label = [&](std::int32_t label) {
    return std::ranges::count_if(sample, [&](auto row) { return labels[row] == label; });
  };
  EXPECT_EQ(of_label(0), 32);
  EXPECT_EQ(of_label(1), 8);
  EXPECT_EQ(of_label(2), 1);
  EXPECT_TRUE(std::ranges::is_sorted(sample));
  EXPECT_EQ(sample[0], 12U);  // the middle of the first of 32 parts of 800 rows
  EXPECT_EQ(sample[31], 787U);
}

TEST(SampleByLabel, KeepsAllRowsOrSaysThatNoneIsLeft) {
  const std::vector<std::int32_t> labels{0, 1, 0, -1, 1};
  EXPECT_EQ(sample_by_label(labels, 1, "f"), (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(tests::problem_of([&] { (void)sample_by_label(labels, 0.01, "f"); }),
            "f: the fraction leaves no example");
}

TEST(SampleOf, SelectsTheRows) {
  const auto whole = reviews(100);
  std::vector<std::size_t> rows;
  const auto sample = sample_of(whole, 0.2, rows);
  ASSERT_EQ(sample.set.size(), 20U);
  ASSERT_EQ(rows.size(), 20U);
  EXPECT_EQ(positive(sample.set), 5U);
  EXPECT_EQ(sample.total, 100U);
  EXPECT_EQ(sample.left_out, 1U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(tests::row_of(sample.set, i), tests::row_of(whole.set, rows[i]));
  }
}

}  // namespace
}  // namespace seqtrain::data
