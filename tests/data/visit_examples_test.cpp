#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/visit_examples.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

TEST(VisitExamples, CountsRowsAndRecords) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(
      directory / "dev.jsonl",
      "{\"sentence1\":\"a\",\"sentence2\":\"b\",\"gold_label\":\"neutral\"}\n"
      "{\"sentence1\":\"c\",\"sentence2\":\"d\",\"gold_label\":\"-\"}\n"
      "{\"sentence1\":\"e\",\"sentence2\":\"f\",\"gold_label\":\"entailment\"}\n");
  std::string seen;
  visit_examples(file, {}, Labels::nli(), [&](const ExamplePlace& place, const Example& example) {
    seen += std::to_string(place.row) + std::to_string(place.record) + std::string{example.text} +
            std::string{*example.text_pair} + " ";
  });
  EXPECT_EQ(seen, "01ab 13ef ");
  EXPECT_EQ(record_numbers(file, {}, Labels::nli()), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(record_numbers(file, {.label_optional = true}, Labels::nli()),
            (std::vector<std::int64_t>{1, 2, 3}));
  const std::vector<std::size_t> second{1};
  EXPECT_EQ(record_numbers(file, {}, Labels::nli(), second), (std::vector<std::int64_t>{3}));
}

TEST(VisitExamples, ReadsFoldersOfTexts) {
  const tests::TemporaryDirectory directory;
  for (const char* name : {"neg/1.txt", "pos/1.txt", "pos/2.txt"}) {
    std::filesystem::create_directories((directory / name).parent_path());
    tests::write_file(directory / name, name);
  }
  std::vector<std::string> texts;
  visit_examples(
      directory.path(), {}, Labels{{"neg", "pos"}},
      [&](const ExamplePlace&, const Example& example) { texts.emplace_back(example.text); });
  EXPECT_EQ(texts.size(), 3U);
  EXPECT_EQ(record_numbers(directory.path(), {}, Labels{{"neg", "pos"}}),
            (std::vector<std::int64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace seqtrain::data
