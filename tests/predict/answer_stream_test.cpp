#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/data/record_stream.hpp>
#include <seqtrain/data/text_files.hpp>
#include <seqtrain/predict/answer_stream.hpp>

#include "support/fake_predictor.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::predict {
namespace {

/// Input that comes in these pieces, with a pause after each.
struct Pieces {
  std::vector<std::string> rest;

  std::size_t read(std::span<char> to) {
    if (rest.empty()) return 0;
    std::string& piece = rest.front();
    const std::size_t count = std::min(to.size(), piece.size());
    std::copy_n(piece.begin(), count, to.begin());
    piece.erase(0, count);
    paused = piece.empty();
    if (paused) rest.erase(rest.begin());
    return count;
  }
  [[nodiscard]] bool ready() const { return !paused; }

  bool paused = true;
};

struct Written {
  std::vector<std::string> parts = {};
  std::size_t most = 1000;
  std::string problem = {};
  StreamProgress progress = {};

  [[nodiscard]] std::string all() const {
    std::string text;
    for (const auto& part : parts) text += part;
    return text;
  }
};

Written answer(std::vector<std::string> pieces, const StreamOptions& options = {},
               std::size_t most = 1000) {
  Written written{.most = most};
  tests::FakePredictor predictor;
  predictor.spoiled = 'z';
  data::RecordStream<Pieces> records{{std::move(pieces)}, "in", {.labelled = false}};
  const auto write = [&](const std::string& text) {
    written.parts.push_back(text);
    return written.parts.size() < written.most;
  };
  written.problem = tests::problem_of(
      [&] { written.progress = answer_stream(records, predictor, write, options); });
  return written;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

std::string text(char letter, std::size_t times) {
  return R"({"text": ")" + std::string(times, letter) + "\"}\n";
}

std::string line(char letter, std::size_t times) {
  const std::vector<float> logits{static_cast<float>(times + 2), static_cast<float>(letter), 0};
  const tests::FakePredictor predictor;
  return to_json(interpret(logits, predictor.task()), predictor.task()) + "\n";
}

TEST(AnswerStream, AnswersEachRecordInOrder) {
  std::string input, expected;
  for (std::size_t i = 0; i < 2000; ++i) {
    input += text('a', i * 7 % 50 + 1);
    expected += line('a', i * 7 % 50 + 1);
  }
  const auto written = answer({input}, {.window = {.batch_size = 4}});
  EXPECT_EQ(written.problem, "nothing was thrown");
  EXPECT_EQ(written.all(), expected);
  EXPECT_EQ(written.progress.records, 2000);
  EXPECT_EQ(written.progress.wrong, 0);
  EXPECT_EQ(written.progress.bytes, static_cast<std::int64_t>(input.size()));
}

TEST(AnswerStream, AnswersWhenTheInputPauses) {
  const auto written =
      answer({text('a', 1), text('b', 2) + text('c', 3) + "{\"te", text('d', 4).substr(4)});
  EXPECT_EQ(written.parts,
            (std::vector<std::string>{line('a', 1), line('b', 2) + line('c', 3), line('d', 4)}));
}

TEST(AnswerStream, PutsAnErrorInTheWrongRecordsPlace) {
  const auto written = answer({text('a', 1) + "x\n" + text('b', 1) + "{\"text\": 1}\n"});
  const auto end = written.all().find('\n') + 1;
  EXPECT_EQ(written.all().substr(0, end), line('a', 1));
  EXPECT_NE(written.all().find(R"({"error":"in:4: text: expected a string","line":4})"),
            std::string::npos)
      << written.all();
  EXPECT_EQ(written.progress.records, 4);
  EXPECT_EQ(written.progress.wrong, 2);
}

TEST(AnswerStream, TellsTheLineOfATextThatCannotBeEncoded) {
  const auto written = answer({text('a', 1) + text('b', 0)}, {.max_length = 0});
  EXPECT_EQ(written.all(),
            "{\"error\":\"in:1: the text has no ids\",\"line\":1}\n"
            "{\"error\":\"in:2: the text has no ids\",\"line\":2}\n");
}

TEST(AnswerStream, EndsAtAWrongRecordIfItIsStrict) {
  const auto written = answer({text('a', 1) + "{}\n" + text('b', 1)}, {.strict = true});
  EXPECT_EQ(written.all(), line('a', 1));
  EXPECT_EQ(written.problem, "in:2: text: missing");
}

TEST(AnswerStream, EndsWhenNobodyReads) {
  std::string input;
  for (int i = 0; i < 500; ++i) input += text('a', 1);
  const auto written = answer({input, input, input}, {.window = {.batch_size = 2}}, 2);
  EXPECT_EQ(written.parts.size(), 2U);
  EXPECT_EQ(written.progress.records, 500);  // the records of the piece that had been read
}

TEST(AnswerStream, TellsHowFarItIs) {
  std::vector<StreamProgress> seen;
  StreamOptions options;
  options.progress = [&](const StreamProgress& progress) { seen.push_back(progress); };
  answer({text('a', 1), "x\n", text('b', 1)}, options);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[1].records, 2);
  EXPECT_EQ(seen[1].wrong, 1);
  EXPECT_EQ(seen[2].bytes, static_cast<std::int64_t>(2 * text('a', 1).size() + 2));
}

TEST(AnswerStream, TellsATextWhoseLogitsAreNotFiniteFromAnAnswer) {
  const std::string input = text('a', 9) + text('z', 1) + "x\n" + text('b', 1) + text('z', 5);
  const auto wrong = [](int number) {
    const std::string line = std::to_string(number);
    return R"({"error":"in:)" + line +
           ": the model computes a logit that is not a finite number; compute in fp32; if that is "
           "so already, the weights are damaged\",\"line\":" +
           line + "}\n";
  };
  const auto written = answer({input}, {.window = {.batch_size = 2}});
  EXPECT_EQ(written.problem, "nothing was thrown");
  EXPECT_EQ(written.progress.wrong, 3);
  EXPECT_EQ(written.progress.records, 5);
  const std::string all = written.all(), third = all.substr(all.find(R"({"error":"in:3)"));
  EXPECT_EQ(all, line('a', 9) + wrong(2) + third.substr(0, third.find('\n') + 1) + line('b', 1) +
                     wrong(5));
}

TEST(AnswerStream, EndsAtATextWhoseLogitsAreNotFiniteIfItIsStrict) {
  const auto written = answer({text('a', 9) + text('z', 1) + text('b', 1)}, {.strict = true});
  EXPECT_NE(written.problem.find("in:2: the model computes a logit that is not a finite number"),
            std::string::npos)
      << written.problem;
  EXPECT_EQ(written.all(), line('a', 9));
}

using Lengths = std::vector<std::vector<std::size_t>>;

void add(AnswerQueue<tests::FakePredictor>& window, const tests::FakePredictor& predictor,
         const std::string& text) {
  window.add(predictor.encode(text, {}, 100));
}

TEST(AnswerQueue, AnswersInOrderWhatItPredictsByLength) {
  const tests::FakePredictor predictor;
  AnswerQueue window{predictor, {.batch_size = 2, .answer = {.top_k = 1}}};
  for (const auto* text : {"aaaaa", "b"}) add(window, predictor, text);
  window.add_error(InputError{"no text"});
  for (const auto* text : {"ccc", "dd"}) add(window, predictor, text);
  const std::string score = R"(,"scores":{"letter":1}})";
  const std::string line = R"({"label":"letter")" + score + "\n";
  EXPECT_EQ(window.answer(), line + line + "{\"error\":\"no text\",\"line\":0}\n" + line + line);
  EXPECT_EQ(predictor.batches, (Lengths{{3, 4}, {5, 7}}));
  EXPECT_TRUE(window.empty());
  EXPECT_EQ(window.answer(), "");
}

TEST(AnswerQueue, NamesTheWindowThatDecided) {
  tests::FakePredictor predictor;
  predictor.window = 4;
  AnswerQueue window{predictor, {.batch_size = 2, .answer = {.top_k = 1}}};
  for (const auto* text : {"aaaaa", "b", "cccccccc"}) add(window, predictor, text);
  const std::string line = R"({"label":"letter","scores":{"letter":1})";
  EXPECT_EQ(window.answer(), line +
                                 R"(,"window":{"index":1,"of":2,"begin":4,"end":7}})"
                                 "\n" +
                                 line + "}\n" + line +
                                 R"(,"window":{"index":2,"of":3,"begin":8,"end":10}})"
                                 "\n");
}

TEST(AnswerQueue, GrowsFromOneBatch) {
  const tests::FakePredictor predictor;
  AnswerQueue window{predictor, {.batch_size = 2, .most_batches = 4}};
  std::vector<int> sizes;
  for (int i = 0, since = 0; i < 30; ++i) {
    add(window, predictor, "a");
    ++since;
    if (!window.full()) continue;
    static_cast<void>(window.answer());
    sizes.push_back(since);
    since = 0;
  }
  EXPECT_EQ(sizes, (std::vector<int>{2, 4, 8, 8, 8}));
}

TEST(AnswerQueue, StaysSmallWhileItIsNotFull) {
  const tests::FakePredictor predictor;
  AnswerQueue window{predictor, {.batch_size = 2}};
  for (int i = 0; i < 5; ++i) {
    add(window, predictor, "a");
    static_cast<void>(window.answer());
  }
  for (int i = 0; i < 2; ++i) add(window, predictor, "a");
  EXPECT_TRUE(window.full());
}

TEST(AnswerStream, KeepsTheMostUncertainAnswersInOrder) {
  const std::string input = text('a', 1) + "x\n" + text('c', 3) + text('z', 1) + text('d', 4);
  StreamOptions options{.most_uncertain = 2, .window = {.batch_size = 1}};
  options.window.answer = {.top_k = 1, .uncertainty = Uncertainty::margin};
  const auto written = answer({input}, options);
  ASSERT_EQ(written.parts.size(), 1U);
  std::vector<std::string> begins;
  for (const auto& line : lines_of(written.all())) {
    begins.push_back(line.substr(0, 10));
  }
  EXPECT_EQ(begins, (std::vector<std::string>{R"({"line":1,)", R"({"line":3,)", R"({"error":")",
                                              R"({"error":")"}));
  EXPECT_EQ(written.progress.wrong, 2);
}

TEST(AnswerStream, CountsTextsWithoutALabel) {
  StreamOptions options;
  options.window.answer = {.min_score = 1.5};
  const auto written = answer({text('a', 1) + "x\n" + text('b', 1)}, options);
  EXPECT_EQ(written.progress.abstained, 2);
}

TEST(AnswerStream, WritesTheHeaderOnceAndNotBeforeARecord) {
  StreamOptions options;
  options.window.answer = {.format = AnswerFormat::csv, .top_k = 1};
  const std::string header = "label,score,error\n";
  const auto written = answer({text('a', 1), text('b', 1)}, options);
  EXPECT_EQ(written.all(), header + "letter,1,\nletter,1,\n");
  EXPECT_EQ(answer({""}, options).all(), "");
}

TEST(AnswerStream, AnswersTheTextsOfADirectory) {
  const tests::TemporaryDirectory directory;
  for (const char* name : {"1.txt", "2.txt"}) tests::write_file(directory / name, "ab");
  data::TextFiles files{directory.path()};
  StreamOptions options;
  options.window.answer = {.top_k = 1, .keep = {"file"}};
  std::string all;
  const auto write = [&](const std::string& lines) {
    all += lines;
    return true;
  };
  answer_stream(files, tests::FakePredictor{}, write, options);
  const std::string rest = R"("label":"letter","scores":{"letter":1}})";
  EXPECT_EQ(all, R"({"file":"1.txt",)" + rest + "\n" + R"({"file":"2.txt",)" + rest + "\n");
}

TEST(AnswerStream, ExplainsEachAnswer) {
  StreamOptions options{.window = {.batch_size = 4, .explain = ExplainOptions{}}};
  const auto written = answer({R"({"text": "go on"})"
                               "\n{}\n" +
                               text('b', 2)},
                              options);
  const auto lines = lines_of(written.all());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(
      lines[0].find(R"(,"explanations":[{"label":"letter","logit":103,"baseline":301,"gap":0,)"
                    R"("passes":4,"exact":true,"words":[{"word":"go","start":0,"end":2,)"),
      std::string::npos)
      << lines[0];
  EXPECT_NE(lines[1].find("text: missing"), std::string::npos);
  EXPECT_NE(lines[2].find(R"("words":[{"word":"bb",)"), std::string::npos);
}

TEST(AnswerStream, HasAnErrorIfAPartOfATextHasNoFiniteLogit) {
  StreamOptions options{.window = {.explain = ExplainOptions{}}};
  const auto written = answer({R"({"text": "a z"})"
                               "\n" +
                               text('b', 2)},
                              options);
  const auto lines = lines_of(written.all());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(
      lines[0].find(R"("error":"in:1: the model computes a logit that is not a finite number )"
                    R"(for a part of the text","line":1)"),
      std::string::npos)
      << lines[0];
  EXPECT_EQ(written.progress.wrong, 1);
}

}  // namespace
}  // namespace seqtrain::predict
