#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/record_stream.hpp>
#include <seqtrain/predict/answer_stream.hpp>
#include <seqtrain/predict/most_diverse.hpp>

#include "support/fake_predictor.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::predict {
namespace {

/// A pool of texts as an input.
struct Pool {
  std::string rest;

  std::size_t read(std::span<char> to) {
    const std::size_t count = std::min(to.size(), rest.size());
    std::copy_n(rest.begin(), count, to.begin());
    rest.erase(0, count);
    return count;
  }
  [[nodiscard]] static bool ready() { return true; }
};

/// Returns records of the fields id and text, whose letters the numbers count.
std::string pool_of(const std::vector<std::size_t>& lengths) {
  std::string lines;
  for (const std::size_t length : lengths) {
    lines += R"({"id": )" + std::to_string(length) + R"(, "text": ")" + std::string(length, 'a') +
             "\"}\n";
  }
  return lines;
}

DiverseRecords diverse(std::string pool, DiverseOptions options) {
  tests::FakePredictor embedder;
  embedder.spoiled = 'z';
  data::RecordStream<Pool> records{
      {std::move(pool)},
      "in",
      {.labelled = false, .format = data::Format::json_lines, .keep = {"id"}}};
  return most_diverse(records, embedder, options);
}

/// Returns `line:id:length` for each record that is shown, and its error.
std::string shown(const KeptRecords& records) {
  std::string text;
  records.read(
      [&](const data::Example& example) {
        text += std::to_string(records.line_of(example)) + ":" + std::string{example.kept[0].text} +
                ":" + std::to_string(example.text.size()) + " ";
      },
      [&](const InputError& error, std::span<const data::KeptValue> kept = {}) {
        text += std::string{error.what()} + (kept.empty() ? "" : std::string{kept[0].text}) + " ";
      });
  return text;
}

TEST(MostDiverseRecords, CoverTheTexts) {
  // The embeddings of longer texts have smaller angles: 98, 97, 44, 47, 49 and 26 degrees.
  const std::string pool = pool_of({1, 2, 90, 95, 96, 200});
  const auto chosen = diverse(pool, {.count = 3});
  EXPECT_EQ(shown(chosen.records), "3:90:90 1:1:1 6:200:200 ");
  EXPECT_EQ(chosen.texts, 6U);
  EXPECT_EQ(chosen.chosen, 3U);
  EXPECT_GT(chosen.radius, 0);
  EXPECT_LT(chosen.radius, 0.1);
  EXPECT_EQ(diverse(pool, {.count = 100}).chosen, 6U);
}

TEST(MostDiverseRecords, AreEqualInAnyBatchAndForAnyThreads) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 500; ++i) lengths.push_back(1 + i * 7919 % 613);
  const std::string pool = pool_of(lengths);
  const auto one = shown(diverse(pool, {.count = 20, .batch_size = 1}).records);
  EXPECT_EQ(shown(diverse(pool, {.count = 20, .batch_size = 32, .threads = 3}).records), one);
  EXPECT_TRUE(one.starts_with(shown(diverse(pool, {.count = 5}).records)));
}

TEST(MostDiverseRecords, PutErrorsLast) {
  const std::string pool =
      "[]\n" + pool_of({3}) + R"({"id": 9, "text": "zz"})" + "\n" + pool_of({4});
  const auto chosen = diverse(pool, {.count = 1});
  EXPECT_EQ(chosen.records.records(), 4);
  EXPECT_EQ(chosen.texts, 2U);
  const std::string text = shown(chosen.records);
  EXPECT_NE(text.find("in:1: expected a JSON object"), std::string::npos) << text;
  EXPECT_NE(text.find("in:3: the model computes an embedding that is not finite"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("damaged9 ")) << text;
  const std::string problem =
      tests::problem_of([&] { (void)diverse(pool, {.count = 1, .strict = true}); });
  EXPECT_NE(problem.find("in:1"), std::string::npos) << problem;
}

TEST(MostDiverseRecords, AreAnsweredLikeOthers) {
  auto chosen = diverse(pool_of({1, 50, 200}), {.count = 2});
  std::string lines;
  const auto write = [&](const std::string& text) {
    lines += text;
    return true;
  };
  const StreamOptions options{
      .window = {
          .answer = {.format = AnswerFormat::csv, .top_k = 1, .keep = {"id"}, .line = true}}};
  const auto done = answer_stream(chosen.records, tests::FakePredictor{}, write, options);
  EXPECT_EQ(lines.substr(0, lines.find('\n')), "id,line,label,score,error");
  EXPECT_EQ(std::ranges::count(lines, '\n'), 3);
  EXPECT_EQ(done.records, 3);
}

TEST(MostDiverseTexts, AreReadInWindowsThatDoNotGrowWithTheBatch) {
  const tests::FakePredictor embedder;
  const DiverseOptions options{.batch_size = std::size_t{1} << 62};
  detail::EmbeddedRecords<tests::FakePredictor> embedded{embedder, options, "in"};
  for (int i = 0; i < 20'000; ++i) embedded.add({.text = "ab"}, {});
  ASSERT_EQ(embedder.batches.size(), 1U);
  EXPECT_EQ(embedder.batches[0].size(), 16'384U);
}

}  // namespace
}  // namespace seqtrain::predict
