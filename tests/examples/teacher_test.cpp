#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/experiment/teacher_answers.hpp>

#include "support/environment.hpp"
#include "support/problem_of.hpp"
#include "support/program.hpp"
#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::read_file;
using tests::run_example;
using tests::write_file;

const data::Labels colours{{"red", "green", "blue"}};

std::vector<float> read(const std::string& text) {
  return experiment::AnswerReader{colours, "a.jsonl"}.read(text);
}

TEST(TeacherAnswers, AreInTheOrderOfTheRunsLabels) {
  const auto logits =
      read(R"({"label":"blue","scores":{"blue":0.5,"RED":0.25,"green":0.25},"logits":[3,1,2]})"
           "\n"
           R"({"label":"blue","scores":{"blue":0.5,"RED":0.5,"green":0}})");
  ASSERT_EQ(logits.size(), 6U);
  EXPECT_EQ((std::vector<float>{logits.begin(), logits.begin() + 3}),
            (std::vector<float>{1, 2, 3}));
  EXPECT_FLOAT_EQ(logits[3], std::log(0.5F));
  EXPECT_FLOAT_EQ(logits[5], std::log(0.5F));
  EXPECT_LT(logits[4], -60);
}

TEST(TeacherAnswers, ThatDoNotFitAreRefused) {
  const auto problem = [](const std::string& text) {
    return tests::problem_of([&] { (void)read(text); });
  };
  const std::string good = R"({"label":"red","scores":{"red":1,"green":0,"blue":0}})"
                           "\n";
  EXPECT_EQ(
      problem(R"({"label":"a","scores":{"a":1,"b":0}})"),
      "a.jsonl: the teacher's labels are a, b, the run's red, green, blue; take a teacher with "
      "the run's labels, or name the teacher's by --labels");
  EXPECT_EQ(problem(good + R"({"error": "stdin:2: missing", "line": 2})"),
            "a.jsonl:2: has no scores: stdin:2: missing; mend that record, and predict again");
  EXPECT_EQ(problem(good + R"({"label":"red","scores":{"red":1,"blue":0,"green":0}})"),
            "a.jsonl:2: has other labels than the first line; write the file by predict, without "
            "--top-k");
  const std::string other =
      "a.jsonl:2: is not an answer of predict with one label and all scores; write the file by "
      "predict, without --top-k";
  for (const char* const line :
       {R"({"value": 3})", R"({"labels":["red"],"scores":{"red":1,"green":0,"blue":0}})", "no", "",
        R"({"split":"dev","row":1,"gold":"red","predicted":"red","scores":[1,0,0],"loss":0})",
        R"({"label":"red","scores":{"red":1,"green":0,"blue":0},"logits":[1,2]})",
        R"({"label":"red","scores":{"red":1,"green":0,"blue":0},"logits":[1,2,1e99]})",
        R"({"label":"red","scores":{"red":"1","green":0,"blue":0}})"}) {
    EXPECT_EQ(problem(good + line + "\n"), other) << line;
  }
}

/// Runs that learn from a teacher, with a cache of their own.
class Teacher : public testing::Test {
 protected:
  void SetUp() override {
    SEQTRAIN_NEEDS_CHECKPOINT();
    std::string text;
    for (int i = 0; i < 12; ++i) {
      text += R"({"text": "A wonderful film, great fun.", "label": "good"})"
              "\n";
      text += R"({"text": "Dull, bad and much too long.", "label": ")";
      text += std::string{i % 3 == 0 ? "-" : "bad"} + "\"}\n";
    }
    write_file(directory_ / "train.jsonl", text);
    std::string dev = text;
    for (auto at = dev.find("\"-\""); at != dev.npos; at = dev.find("\"-\""))
      dev.replace(at, 3, "\"bad\"");
    write_file(directory_ / "dev.jsonl", dev);
  }

  [[nodiscard]] tests::Ended run(const std::string& output, const std::string& more) const {
    return run_example("mnli", flags(output) + more);
  }

  [[nodiscard]] std::string flags(const std::string& output) const {
    return "--model " + tests::small_checkpoint().string() + " --labels bad,good --train-file " +
           path("train.jsonl") + " --dev-file " + path("dev.jsonl") + " --output-dir " +
           path(output) +
           " --max-length 16 --batch-size 4 --epochs 2 --threads 1 --log-every 1 "
           "--lr-scheduler-type constant ";  // a shorter run may then be extended to equal bits
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (directory_ / name).string();
  }
  [[nodiscard]] std::string model(const std::string& output) const {
    return read_file(directory_ / output / "model.pth");
  }
  /// Returns the number of files of answers in the cache.
  [[nodiscard]] std::ptrdiff_t cached() const {
    const auto folder = directory_ / "cache/seqtrain/teachers";
    if (!std::filesystem::exists(folder)) return 0;
    return std::distance(std::filesystem::directory_iterator{folder}, {});
  }

  tests::TemporaryDirectory directory_;
  tests::Environment cache_{"XDG_CACHE_HOME", path("cache")};
};

TEST_F(Teacher, AnswersOnceAndGivesTheBitsOfItsFile) {
  ASSERT_EQ(run("teacher", "--learning-rate 3e-3").code, 0);
  const auto first = run("first", "--teacher " + path("teacher"));
  ASSERT_EQ(first.code, 0) << first.output;
  EXPECT_NE(first.output.find("answers 24 training texts"), std::string::npos) << first.output;
  EXPECT_NE(first.output.find("4 training examples have no label"), std::string::npos);
  EXPECT_EQ(cached(), 1);
  const auto second = run("second", "--teacher " + path("teacher"));
  EXPECT_EQ(second.output.find("answers 24 training texts"), std::string::npos) << second.output;
  EXPECT_EQ(model("second"), model("first"));
  const auto answers = run_example("predict", "--threads 1 --precision auto --model " +
                                                  path("teacher") + " " + path("train.jsonl"));
  ASSERT_EQ(answers.code, 0) << answers.output;
  write_file(directory_ / "answers.jsonl", answers.output);
  ASSERT_EQ(run("file", "--teacher " + path("answers.jsonl")).code, 0);
  EXPECT_EQ(model("file"), model("first"));
  ASSERT_EQ(run("other", "--teacher-share 0.9 --teacher " + path("answers.jsonl")).code, 0);
  EXPECT_NE(model("other"), model("first"));
  // Other rows are other answers.
  ASSERT_EQ(run("part", "--fraction-of-train-data 0.5 --teacher " + path("teacher")).code, 0);
  EXPECT_EQ(cached(), 2);
  ASSERT_EQ(
      run("part_of_file", "--fraction-of-train-data 0.5 --teacher " + path("answers.jsonl")).code,
      0);
  EXPECT_EQ(model("part_of_file"), model("part"));
  const auto resumed =
      run("stopped", "--max-steps 5 --keep-last-checkpoint --teacher " + path("teacher"));
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  const auto went_on = run("stopped", "--resume auto --teacher " + path("teacher"));
  ASSERT_EQ(went_on.code, 0) << went_on.output;
  EXPECT_EQ(model("stopped"), model("first"));
}

TEST_F(Teacher, ThatDoesNotFitEndsTheRunBeforeItWrites) {
  const std::string answer = R"({"label":"bad","scores":{"bad":1,"good":0}})"
                             "\n";
  std::string answers;
  for (int i = 0; i < 23; ++i) answers += answer;
  write_file(directory_ / "short.jsonl", answers);
  const auto problem = [&](const std::string& more) {
    const auto ended = run("run", more);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
    EXPECT_EQ(cached(), 0);
    return ended.output;
  };
  const auto has = [&](const std::string& more, const std::string& text) {
    const auto output = problem(more);
    EXPECT_NE(output.find(text), std::string::npos) << output;
  };
  has("--teacher " + path("short.jsonl"), "short.jsonl: has 23 answers, but ");
  has("--teacher " + path("none.jsonl"), "none.jsonl: No such file");
  has("--teacher " + path("none"), "there is no such directory");
  has("--teacher-temperature 0 --teacher x.jsonl",
      "--teacher-temperature: must be a number above 0");
  has("--soft-labels --teacher " + path("short.jsonl"),
      "--soft-labels: does not go with --teacher");
  has("--problem-type multi_label_classification --teacher " + path("short.jsonl"),
      "--teacher: does not go with multi_label_classification");
  const auto teach = [&](const std::string& output, const std::string& text,
                         const std::string& more) {
    write_file(directory_ / (output + ".jsonl"), text);
    const std::string file = path(output + ".jsonl");
    const auto ended =
        run_example("mnli", "--model " + tests::small_checkpoint().string() + " --train-file " +
                                file + " --dev-file " + file +
                                " --epochs 1 --threads 1 --output-dir " + path(output) + more);
    EXPECT_EQ(ended.code, 0) << ended.output;
  };
  teach("several", "{\"text\": \"a\", \"label\": [\"bad\"]}\n",
        " --labels bad,good --problem-type multi_label_classification");
  has("--teacher " + path("several"), "is a teacher for multi_label_classification");
  teach("names", "{\"text\": \"a\", \"label\": \"yes\"}\n{\"text\": \"b\", \"label\": \"no\"}\n",
        "");
  has("--teacher " + path("names"), "the teacher's labels are no, yes, the run's bad, good");
}

}  // namespace
}  // namespace seqtrain
