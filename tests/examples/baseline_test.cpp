#include <csignal>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>

#include "support/program.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::run_example;
using tests::write_file;

/// Returns a file of examples with three labels that their words tell.
std::string examples(std::size_t count, std::string_view text = "text",
                     std::string_view label = "label") {
  const char* const words[] = {"the train is late", "a very tasty soup", "rain, wind and snow"};
  const char* const labels[] = {"traffic", "food", "weather"};
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    lines += "{\"" + std::string{text} + "\": \"" + words[i % 3] + ' ' + std::to_string(i) +
             "\", \"" + std::string{label} + "\": \"" + labels[i % 3] + "\"}\n";
  }
  return lines;
}

class BaselineProgram : public testing::Test {
 protected:
  tests::Ended baseline(const std::string& flags) const {
    return run_example("baseline", "--threads 2 --output-dir " + run().string() + " " + flags);
  }
  tests::Ended predict(const std::filesystem::path& model, const std::string& flags) const {
    return run_example("predict",
                       "--threads 1 --device cpu --model " + model.string() + " " + flags);
  }
  std::filesystem::path run() const { return directory_ / "run"; }
  std::string file(std::string_view name, std::string_view text) const {
    return write_file(directory_ / name, text).string();
  }

  tests::TemporaryDirectory directory_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_F(BaselineProgram, SavesAModelThatPredictAnswersWithTheSameScores) {
  const auto train = file("train.jsonl", examples(120, "words", "class"));
  const auto dev = file("dev.jsonl", examples(40, "words", "class"));
  const auto ended = baseline("--train-file " + train + " --dev-file " + dev +
                              " --text-field words --label-field class");
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("TF-IDF + linear"), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("most frequent label"), std::string::npos) << ended.output;
  EXPECT_EQ(ended.output.find("this model"), std::string::npos) << ended.output;
  for (const char* place : {"", "model"}) {  // the run's metrics.json names the field
    const auto model = *place == 0 ? run() : run() / place;
    const auto said = predict(model, "--text-field words " + dev);
    ASSERT_EQ(said.code, 0) << said.output;
    const auto answers = lines_of(said.output);
    const auto kept = lines_of(tests::read_file(run() / "predictions.jsonl"));
    ASSERT_EQ(answers.size(), 40U);
    ASSERT_EQ(kept.size(), 40U);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto answer = json::Document::parse(answers[i], "answer");
      const auto line = json::Document::parse(kept[i], "line");
      EXPECT_EQ(answer.root().at("label").string(), line.root().at("predicted").string());
      EXPECT_EQ(line.root().at("row").integer(), static_cast<std::int64_t>(i) + 1);
      const auto scores = answer.root().at("scores").members();
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(static_cast<float>(scores[k].second.number()),
                  static_cast<float>(line.root().at("scores").items()[k].number()));
      }
    }
  }
  EXPECT_EQ(predict(run(), dev).code, 0);  // with the field of the run
  const auto metrics = json::Document::load(run() / "metrics.json");
  EXPECT_EQ(metrics.root().at("dev").at("accuracy").number(), 1);
  EXPECT_NEAR(metrics.root().at("baseline").at("majority").at("accuracy").number(), 14. / 40, 0.03);
}

TEST_F(BaselineProgram, HoldsOutTheDevExamplesOfATrainingProgramAndReadsTest) {
  const auto train = file("train.jsonl", examples(120));
  const auto test = file("test.jsonl", examples(9));
  const auto ended =
      baseline("--train-file " + train + " --test-file " + test + " --calibrate yes");
  ASSERT_EQ(ended.code, 0) << ended.output;
  const auto metrics = json::Document::load(run() / "metrics.json");
  EXPECT_EQ(metrics.root().at("dev").at("examples").integer(), 12);
  EXPECT_EQ(metrics.root().at("test").at("examples").integer(), 9);
  const auto config = json::Document::load(run() / "model/config.json");
  EXPECT_EQ(config.root().at("seqtrain").at("temperature").number(),
            metrics.root().at("calibration").at("temperature").number());
  EXPECT_EQ(lines_of(tests::read_file(run() / "predictions.jsonl")).size(), 12U + 9U);
}

TEST_F(BaselineProgram, AnswersPairsNumbersAndSeveralLabels) {
  const auto numbers =
      file("n.csv", "text,text_pair,label\none,a,1\ntwo,b,2\nthree,c,3\nten,d,9\n");
  auto ended =
      baseline("--train-file " + numbers + " --dev-file " + numbers + " --problem-type regression");
  ASSERT_EQ(ended.code, 0) << ended.output;
  auto said = predict(run(), numbers);
  ASSERT_EQ(said.code, 0) << said.output;
  EXPECT_TRUE(said.output.starts_with("{\"value\":")) << said.output;
  const auto several = file("s.csv", "text,a,b\nred,1,0\nblue,0,1\npurple,1,1\ngrey,0,0\n");
  ended = baseline(
      "--overwrite --problem-type multi_label_classification --label-field a,b "
      "--train-file " +
      several + " --dev-file " + several);
  ASSERT_EQ(ended.code, 0) << ended.output;
  said = predict(run(), several);
  ASSERT_EQ(said.code, 0) << said.output;
  EXPECT_EQ(lines_of(said.output).front().substr(0, 16), "{\"labels\":[\"a\"],") << said.output;
}

TEST_F(BaselineProgram, ReadsATextWithoutKnownTermsAndALongOne) {
  const auto train = file("train.jsonl", examples(60));
  ASSERT_EQ(baseline("--train-file " + train).code, 0);
  std::string text = "{\"text\": \"ξ\"}\n{\"text\": \"\"}\n{\"text\": \"";
  for (int i = 0; i < 20'000; ++i) text += "a very tasty soup ";
  const auto said = predict(run(), file("long.jsonl", text + "\"}\n"));
  ASSERT_EQ(said.code, 0) << said.output;
  const auto lines = lines_of(said.output);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], lines[1]);
  EXPECT_TRUE(lines[2].starts_with("{\"label\":\"food\"")) << lines[2];
}

TEST_F(BaselineProgram, RefusesWrongInputBeforeItWrites) {
  const auto train = file("train.jsonl", examples(60));
  const auto refused = [&](const std::string& flags, std::string_view problem) {
    const auto ended = baseline(flags);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_NE(ended.output.find(problem), std::string::npos) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(run()));
  };
  refused("", "--train-file: is needed");
  refused("--train-file " + train + " --learning-rate 1", "learning-rate");
  const auto empty = file("empty.jsonl",
                          "{\"text\": \"?\", \"label\": \"a\"}\n"
                          "{\"text\": \"!\", \"label\": \"b\"}\n");
  const auto blanks = file("blanks.jsonl",
                           "{\"text\": \" \", \"label\": \"a\"}\n"
                           "{\"text\": \"\", \"label\": \"b\"}\n");
  refused("--train-file " + blanks + " --dev-file " + blanks, "no text has a word");
  refused("--train-file " + train + " --dev-file " + empty, "unknown label 'a'");
}

TEST_F(BaselineProgram, PredictRefusesADamagedModel) {
  ASSERT_EQ(baseline("--train-file " + file("train.jsonl", examples(60))).code, 0);
  const auto weights = run() / "model/model.safetensors";
  const auto whole = tests::read_file(weights);
  write_file(weights, std::string_view{whole}.substr(0, whole.size() / 2));
  const auto said = predict(run(), file("one.jsonl", "{\"text\": \"soup\"}\n"));
  EXPECT_EQ(said.code, 2) << said.output;
  EXPECT_NE(said.output.find("model.safetensors"), std::string::npos) << said.output;
}

}  // namespace
}  // namespace seqtrain
