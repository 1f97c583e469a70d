#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/visit_examples.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

using Numbers = std::vector<std::int64_t>;

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

TEST(VisitExamples, ReadsTheRecordsOfASplit) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(
      directory / "all.csv",
      "text,label,part\na,0,train\nb,1, Validation\nc,1,TEST\nd,1,train\ne,0,dev\n");
  const Labels labels{{"0", "1"}};
  const auto records = [&](Split split) {
    return record_numbers(file, {.split_field = "part", .split = split}, labels);
  };
  EXPECT_EQ(records(Split::all), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(records(Split::train), (Numbers{1, 4}));
  EXPECT_EQ(records(Split::dev), (Numbers{2, 5}));
  EXPECT_EQ(records(Split::test), (Numbers{3}));
  EXPECT_EQ(count_splits(file, {.split_field = "part"}), (std::array<std::size_t, 4>{0, 2, 2, 1}));
  EXPECT_EQ(count_splits(file, {.skip_unlabelled = true, .split_field = "part"})[1], 2U);
  EXPECT_EQ(values_of(file, {.split_field = "part", .split = Split::dev}, labels, "text"),
            (std::vector<std::string>{"b", "e"}));
}

TEST(VisitExamples, CountsNoRecordsOfASplitThatAreLeftOut) {
  const tests::TemporaryDirectory directory;
  const auto count = [&](const std::string& name, const std::string& text, ReadOptions options) {
    options.split_field = "part";
    return count_splits(tests::write_file(directory / name, text), options);
  };
  const std::string table =
      "text,label,part\na,x,train\nb,,train\nc,y,dev\nd,,test\ne,,test\nf,-,test\n";
  const std::string lines =
      "{\"text\": \"a\", \"label\": [\"x\"], \"part\": \"train\"}\n"
      "{\"text\": \"b\", \"label\": null, \"part\": \"train\"}\n"
      "{\"text\": \"c\", \"label\": [], \"part\": \"dev\"}\n"
      "{\"text\": \"d\", \"part\": \"test\"}\n"
      "{\"text\": \"e\", \"label\": \"\", \"part\": \"test\"}\n"
      "{\"text\": \"f\", \"label\": \"-\", \"part\": \"test\"}\n";
  for (const auto& [name, text] : {std::pair{"a.csv", table}, {"a.jsonl", lines}}) {
    EXPECT_EQ(count(name, text, {}), (std::array<std::size_t, 4>{0, 2, 1, 3})) << name;
    EXPECT_EQ(count(name, text, {.skip_unlabelled = true}),
              (std::array<std::size_t, 4>{0, 1, 1, 0}))
        << name;
  }
  EXPECT_EQ(count("b.csv", "text,x,y,part\na,1,0,train\nb,0,1,test\n",
                  {.label_field = "x,y", .skip_unlabelled = true}),
            (std::array<std::size_t, 4>{0, 1, 0, 1}));
  EXPECT_EQ(
      count(
          "numbers.csv", "text,x,y,part\na,1,0.5,train\nb,0,,test\nc,2,3,test\n",
          {.label_field = "x,y", .problem_type = ProblemType::regression, .skip_unlabelled = true}),
      (std::array<std::size_t, 4>{0, 1, 0, 1}));
}

TEST(VisitExamples, LeavesOutWhatIsNotRead) {
  const tests::TemporaryDirectory directory;
  const auto file =
      tests::write_file(directory / "dev.jsonl",
                        "{\"text\":\"a\",\"label\":\"odd\"}\n{\"text\":\"b\",\"label\":\"even\"}\n"
                        "{\"text\":\"c\",\"label\":\"odd\"}\n");
  std::string seen;
  const auto odd = [](const Example& example) { return example.label == "odd"; };
  visit_examples(file, {.label_optional = true, .reads = odd}, Labels::none(),
                 [&](const ExamplePlace& place, const Example& example) {
                   seen += std::string{example.text} + std::to_string(place.row) +
                           std::to_string(place.record) + " ";
                 });
  EXPECT_EQ(seen, "a01 c13 ");
}

TEST(VisitExamples, RefusesAnUnknownSplit) {
  const tests::TemporaryDirectory directory;
  const auto file =
      tests::write_file(directory / "all.csv", "text,label,part\na,0,train\nb,1,unused\n");
  EXPECT_EQ(tests::problem_of([&] { (void)count_splits(file, {.split_field = "part"}); }),
            file.string() +
                ": part: record 2 is in an unknown split, 'unused'; write train, dev or test; "
                "validation is dev too");
}

TEST(VisitExamples, SkipsRecordsWithoutALabelIfThatIsAskedFor) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "all.csv", "text,label\na,0\nb,\nc,1\n");
  EXPECT_EQ(record_numbers(file, {.skip_unlabelled = true}, Labels{{"0", "1"}}),
            (std::vector<std::int64_t>{1, 3}));
}

TEST(VisitExamples, RefusesFieldsOfAFolder) {
  const tests::TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "pos");
  tests::write_file(directory / "pos/1.txt", "a");
  EXPECT_NE(tests::problem_of([&] {
              (void)record_numbers(directory.path(), {.split_field = "part"}, Labels{{"0", "1"}});
            }).find("part: has no fields"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::data
