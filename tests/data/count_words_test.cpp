#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/count_words.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

std::vector<std::string> words_of(const std::filesystem::path& file, const ReadOptions& options,
                                  std::size_t workers) {
  text::WordCounts counts;
  count_words(file, options, workers, counts);
  return counts.vocabulary({.at_least = 1});
}

TEST(CountWords, CountsTheSameOnAnyNumberOfThreads) {
  const tests::TemporaryDirectory directory;
  std::string csv = "label,text\n";
  for (int i = 0; i < 20'000; ++i) {
    csv += "pos,\"word" + std::to_string(i % 90) + ", Good\"\n";
  }
  const auto file = tests::write_file(directory / "train.csv", csv);
  const auto alone = words_of(file, {}, 1);
  EXPECT_EQ(alone.size(), 9 + 92 + 3U);  // with filler words
  EXPECT_EQ(alone[9], ",");
  EXPECT_EQ(alone[10], "good");
  EXPECT_EQ(words_of(file, {}, 5), alone);
}

TEST(CountWords, ReadsPlainLines) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "unlabelled.txt", "{one,\"two\n\ntwo\tone two\n");
  const auto words = words_of(file, {.format = Format::lines}, 2);
  EXPECT_EQ((std::vector<std::string>{words.begin() + 9, words.begin() + 14}),
            (std::vector<std::string>{"two", "one", "{", ",", "\""}));
}

TEST(CountWords, RefusesTextsThatAreNotUtf8) {
  const tests::TemporaryDirectory directory;
  const auto broken = tests::write_file(directory / "broken.txt", "fine\nb\xFF\n");
  EXPECT_THROW(words_of(broken, {.format = Format::lines}, 1), InputError);
}

}  // namespace
}  // namespace seqtrain::data
