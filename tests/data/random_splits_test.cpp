#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/data/random_splits.hpp>

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

TEST(RandomSplits, HaveTheRowsOfScikitLearnAndFastai) {
  const auto document = json::Document::load(SEQTRAIN_TESTS_DIR "/golden/random_splits.json");
  for (const auto& golden : document.root().items()) {
    const auto rows = static_cast<std::size_t>(golden.at("rows").integer());
    const auto seed = static_cast<std::uint32_t>(golden.at("seed").integer());
    SCOPED_TRACE(std::to_string(rows) + " rows, seed " + std::to_string(seed));
    expect_parts(split_like_sklearn(rows, 0.25, seed), golden.at("sklearn"));
    expect_parts(split_like_fastai(rows, 0.2, seed), golden.at("fastai"));
  }
}

TEST(RandomSplits, RefuseTooFewRowsAndTooMany) {
  EXPECT_THROW((void)split_like_sklearn(1, 0.25, 42), InputError);
  EXPECT_THROW((void)split_like_sklearn(10, 1, 42), InputError);
  EXPECT_THROW((void)split_like_fastai(10, 0, 42), InputError);
  EXPECT_THROW((void)split_like_fastai(0, 0.2, 42), InputError);
  EXPECT_THROW((void)split_like_fastai(1U << 31, 0.2, 42), InputError);
}

}  // namespace
}  // namespace seqtrain::data
