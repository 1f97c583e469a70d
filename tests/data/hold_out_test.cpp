#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/hold_out.hpp>

#include "support/letter_tokenizer.hpp"
#include "support/problem_of.hpp"
#include "support/row_of.hpp"

namespace seqtrain::data {
namespace {

const tests::LetterTokenizer by_letters;

/// Returns `count` texts, every fourth of them positive.
EncodedFile reviews(std::size_t count) {
  std::string rows = "text\tlabel\nx\t-\n";
  for (std::size_t i = 0; i < count; ++i) {
    rows += std::string(i % 30 + 1, static_cast<char>('a' + i % 26)) + "\t" +
            (i % 4 == 0 ? "1" : "0") + "\n";
  }
  return encode_text({.text = rows, .name = "f"}, by_letters, Labels::sentiment(),
                     {.encode = {.max_length = 20}});
}

std::size_t positive(const EncodedSet& set) {
  std::size_t count = 0;
  for (std::size_t row = 0; row < set.size(); ++row) count += set.label(row) == 1 ? 1 : 0;
  return count;
}

TEST(HoldOut, SplitsEachLabelAlike) {
  const auto whole = reviews(1000);
  const auto parts = hold_out(whole, {.share = 0.1, .seed = 7, .max_length = 20});
  EXPECT_EQ(parts.dev.set.size(), 100u);
  EXPECT_EQ(parts.train.set.size(), 900u);
  EXPECT_EQ(positive(parts.dev.set), 25u);
  EXPECT_EQ(positive(parts.train.set), 225u);
  EXPECT_EQ(parts.dev.total, 100u);
  EXPECT_EQ(parts.train.left_out, 1u);
  EXPECT_EQ(parts.dev.left_out, 0u);
  EXPECT_EQ(parts.train.at_max_length + parts.dev.at_max_length, whole.at_max_length);
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
  EXPECT_EQ(tests::row_of(half.train.set, 79), tests::row_of(all.train.set, 79));
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

}  // namespace
}  // namespace seqtrain::data
