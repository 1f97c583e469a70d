#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/data/random_split.hpp>

namespace seqtrain::data {
namespace {

std::vector<std::size_t> numbers(const json::Value& list) {
  std::vector<std::size_t> result;
  for (const auto& item : list.items()) {
    result.push_back(static_cast<std::size_t>(item.integer()));
  }
  return result;
}

void expect_parts(const RandomSplit& split, const json::Value& golden) {
  EXPECT_EQ(split.train, numbers(golden.at("train")));
  EXPECT_EQ(split.held_out, numbers(golden.at("held_out")));
}

TEST(RandomSplit, HasTheRowsOfScikitLearnAndFastai) {
  const auto document = json::Document::load(SEQTRAIN_TESTS_DIR "/golden/random_splits.json");
  for (const auto& golden : document.root().items()) {
    const auto rows = static_cast<std::size_t>(golden.at("rows").integer());
    const auto seed = static_cast<std::uint32_t>(golden.at("seed").integer());
    SCOPED_TRACE(std::to_string(rows) + " rows, seed " + std::to_string(seed));
    expect_parts(split_like_sklearn(rows, 0.25, seed), golden.at("sklearn"));
    expect_parts(split_like_fastai(rows, 0.2, seed), golden.at("fastai"));
  }
}

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
  EXPECT_THROW((void)split_like_sklearn(1, 0.25, 42), InputError);
  EXPECT_THROW((void)split_like_fastai(0, 0.2, 42), InputError);
  EXPECT_THROW((void)split_like_sklearn(10, 1, 42), InputError);
  EXPECT_THROW((void)split_like_fastai(10, 0, 42), InputError);
}

}  // namespace
}  // namespace seqtrain::data
