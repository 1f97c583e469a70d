#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/predict_flags.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::cli {
namespace {

PredictFlags predict_flags(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"predict", "--model", "m"});
  std::vector<const char*> words;
  for (const auto& argument : arguments) words.push_back(argument.c_str());
  PredictFlags flags;
  EXPECT_TRUE(flags.parse(static_cast<int>(words.size()), words.data()));
  return flags;
}

std::string problem_of_predict(const std::vector<std::string>& arguments) {
  return tests::problem_of([&] { (void)predict_flags(arguments); });
}

TEST(PredictFlagsTest, ChooseTheFormOfTheAnswersByTheFile) {
  const tests::TemporaryDirectory directory;
  const auto format = [&](const std::string& file, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--output-file", (directory / file).string()});
    return predict_flags(more).answer_options({}).format;
  };
  EXPECT_EQ(predict_flags({}).answer_options({}).format, predict::AnswerFormat::json_lines);
  EXPECT_EQ(format("a.csv"), predict::AnswerFormat::csv);
  EXPECT_EQ(format("a.jsonl"), predict::AnswerFormat::json_lines);
  EXPECT_EQ(format("a.csv", {"--output-format=jsonl"}), predict::AnswerFormat::json_lines);
  EXPECT_EQ(predict_flags({"--output-format=csv"}).answer_options({}).format,
            predict::AnswerFormat::csv);
}

TEST(PredictFlagsTest, PassOnWhatTheAnswersHave) {
  const auto flags = predict_flags({"--keep=id,date", "--top-k=2", "--min-score=0.5",
                                    "--most-uncertain=9", "--uncertainty=margin"});
  EXPECT_EQ(flags.read_options().keep, (std::vector<std::string>{"id", "date"}));
  const auto options = flags.answer_options({"id"});
  EXPECT_EQ(options.keep, std::vector<std::string>{"id"});
  EXPECT_EQ(options.top_k, 2U);
  EXPECT_EQ(options.min_score, 0.5);
  EXPECT_EQ(options.uncertainty, predict::Uncertainty::margin);
  EXPECT_EQ(flags.stream_options(512, 512).most_uncertain, 9U);
  EXPECT_FALSE(predict_flags({}).answer_options({}).uncertainty.has_value());
}

TEST(PredictFlagsTest, ExplainAnswers) {
  const auto options = predict_flags({"--explain"}).stream_options(512, 512).window;
  ASSERT_TRUE(options.explain);
  EXPECT_EQ(options.explain->passes, 200U);
  EXPECT_EQ(options.most_batches, 1U);
  const auto more = predict_flags({"--explain", "--explain-passes=1000"});
  EXPECT_EQ(more.stream_options(512, 512).window.explain->passes, 1000U);
  EXPECT_FALSE(predict_flags({}).stream_options(512, 512).window.explain);
}

TEST(PredictFlagsTest, RefuseWhatDoesNotGoWithExplanations) {
  const tests::TemporaryDirectory directory;
  const auto problem = [](std::vector<std::string> more) {
    more.insert(more.begin(), "--explain");
    return problem_of_predict(more);
  };
  EXPECT_EQ(problem_of_predict({"--explain-passes=100"}),
            "--explain-passes: is for --explain: give that too");
  for (const char* passes : {"9", "10001", "-1"}) {
    EXPECT_EQ(problem({"--explain-passes", passes}), "--explain-passes: must be 10 to 10000");
  }
  EXPECT_EQ(problem({"--embed"}), "--explain: is for labels, not for --embed");
  const std::string room =
      "--explain: is for answers in JSON lines, which have room for lists of words";
  EXPECT_EQ(problem({"--output-format=csv"}), room);
  EXPECT_EQ(problem({"--output-file", (directory / "a.csv").string()}), room);
  EXPECT_EQ(problem({"--compare=bf16"}),
            "--explain: does not go with --compare: give them in turn");
  EXPECT_EQ(problem({"--most-uncertain=3"}),
            "--explain: does not go with --most-uncertain, which reads all texts first: explain "
            "the texts that it writes");
}

TEST(PredictFlagsTest, NameTheFlagOfAWrongValue) {
  const tests::TemporaryDirectory directory;
  EXPECT_EQ(problem_of_predict({"--min-score=1.5"}), "--min-score: must be 0 to 1");
  EXPECT_EQ(problem_of_predict({"--min-score=nan"}), "--min-score: must be 0 to 1");
  EXPECT_EQ(problem_of_predict({"--most-uncertain=-1"}), "--most-uncertain: must not be negative");
  EXPECT_EQ(problem_of_predict({"--uncertainty=x"}),
            "--uncertainty: is unknown: use entropy or margin");
  EXPECT_EQ(problem_of_predict({"--uncertainty=margin"}),
            "--uncertainty: is the order of --most-uncertain: give that too");
  EXPECT_EQ(problem_of_predict({"--keep=id,id"}), "--keep: names 'id' twice");
  EXPECT_EQ(problem_of_predict({"--keep=id,,x"}), "--keep: has an empty name");
  EXPECT_EQ(problem_of_predict({"--output-format=xml"}),
            "--output-format: must be auto, jsonl, csv, parquet or npy");
  EXPECT_EQ(problem_of_predict({"--output-file=" + directory.path().string()}),
            "--output-file: is a directory");
  EXPECT_EQ(problem_of_predict({"--output-file=" + (directory / "no/a.csv").string()}),
            "--output-file: is in a directory that does not exist: " + (directory / "no").string());
}

TEST(PredictFlagsTest, RefuseFilesOfFormatsThatAnswersDoNotHave) {
  for (const std::string end : {".arrow", ".tsv", ".npz", ".xlsx", ".gz", ".zst"}) {
    for (const char* answers : {"--embed", "--top-k=0"}) {
      EXPECT_EQ(problem_of_predict({answers, "--output-file=a" + end}),
                "--output-file: ends with " + end +
                    ", a format that answers do not have; end it with .jsonl, .csv, .parquet "
                    "or, for embeddings, .npy, or name one by --output-format");
    }
    EXPECT_EQ(problem_of_predict({"--output-format=jsonl", "--output-file=a" + end}),
              "nothing was thrown");
  }
  EXPECT_EQ(problem_of_predict({"--output-file=a.txt"}), "nothing was thrown");
}

TEST(PredictFlagsTest, ChooseDifferentTexts) {
  const auto flags = predict_flags({"--most-diverse=9", "--threads=2", "--strict"});
  EXPECT_TRUE(flags.answer_options({}).line);
  EXPECT_FALSE(predict_flags({}).answer_options({}).line);
  const auto options = flags.diverse_options(128, 64);
  EXPECT_EQ(options.count, 9U);
  EXPECT_EQ(options.max_length, 64U);
  EXPECT_EQ(options.threads, 2U);
  EXPECT_TRUE(options.strict);
  EXPECT_EQ(problem_of_predict({"--most-diverse=-1"}), "--most-diverse: must not be negative");
  EXPECT_EQ(
      problem_of_predict({"--most-diverse=9", "--most-uncertain=9"}),
      "--most-diverse: does not go with --most-uncertain: give that first, with --keep and an "
      "--output-file, and then --most-diverse for this file");
  EXPECT_EQ(problem_of_predict({"--embed", "--most-diverse=9", "--output-file=a.npy"}),
            "--most-diverse: has no place in a file of numpy's, whose rows have no names");
}

TEST(PredictFlagsTest, TakeParquetInAProgramThatWritesIt) {
  const std::string built_without =
      "is Parquet, which this program is built without: pip install pyarrow and build it again, or "
      "write .jsonl or .csv";
  EXPECT_EQ(problem_of_predict({"--output-file=a.parquet"}), "--output-file: " + built_without);
  EXPECT_EQ(problem_of_predict({"--output-file=a.txt", "--output-format=parquet"}),
            "--output-format: " + built_without);
  EXPECT_EQ(problem_of_predict({"--output-format=parquet"}),
            "--output-format: parquet needs an --output-file");
  EXPECT_EQ(problem_of_predict({"--output-format=jsonl", "--output-file=a.parquet"}),
            "nothing was thrown");
}

TEST(PredictFlagsTest, TakeCandidateLabels) {
  const auto flags = predict_flags({"--candidate-labels= art, sport "});
  EXPECT_TRUE(flags.zero_shot());
  EXPECT_EQ(flags.candidates.labels, (std::vector<std::string>{"art", "sport"}));
  EXPECT_FALSE(predict_flags({}).zero_shot());
  EXPECT_EQ(problem_of_predict({"--candidate-labels=a, b,a"}),
            "--candidate-labels: names 'a' twice");
  EXPECT_EQ(problem_of_predict({"--candidate-labels=a, "}),
            "--candidate-labels: has an empty label");
  EXPECT_EQ(problem_of_predict({"--candidate-labels=a", "--hypothesis-template=It is."}),
            "--hypothesis-template: must have {} once, where the label is put: This text is about "
            "{}.");
  EXPECT_EQ(problem_of_predict({"--multi-label"}), "--multi-label: is for --candidate-labels");
  EXPECT_EQ(problem_of_predict({"--candidate-labels=a", "--pair-field=b"}),
            "--pair-field: does not go with --candidate-labels, which single texts get");
}

TEST(PredictFlagsTest, AskForEmbeddings) {
  const auto flags = predict_flags({"--embed", "--truncate-dim=64", "--output-file=a.npy"});
  EXPECT_EQ(flags.embedding()->size, 64U);
  EXPECT_FALSE(flags.embedding()->normalize);
  EXPECT_EQ(flags.format_of_answers(), predict::AnswerFormat::npy);
  EXPECT_TRUE(flags.stream_options(512, 512).strict);
  EXPECT_FALSE(predict_flags({}).embedding());
  EXPECT_EQ(problem_of_predict({"--output-file=a.npy"}),
            "--output-file: npy is for --embed; labels have jsonl, csv and parquet");
  EXPECT_EQ(problem_of_predict({"--output-file=a.npy", "--output-format=npy"}),
            "--output-format: npy is for --embed; labels have jsonl, csv and parquet");
  EXPECT_EQ(problem_of_predict({"--embed", "--output-file=a.csv"}),
            "--output-file: csv is for labels; embeddings have jsonl, parquet and npy");
  EXPECT_EQ(problem_of_predict({"--truncate-dim=64"}), "--truncate-dim: is for --embed");
  EXPECT_EQ(problem_of_predict({"--embed", "--keep=id", "--output-file=a.npy"}),
            "--keep: has no place in a file of numpy's");
  EXPECT_EQ(problem_of_predict({"--embed", "--compare=fp32"}),
            "--compare: is for labels, not for --embed");
}

TEST(PredictFlagsTest, RefuseAModelWithoutSuchAnswers) {
  const auto problem = [](const std::string& flag, const predict::Task& task) {
    return tests::problem_of([&] { predict_flags({flag}).require_answers(task); });
  };
  const predict::Task one{.labels = {"a", "b"}}, score{.labels = {"a"}};
  const predict::Task several{.labels = {"a"}, .problem_type = ProblemType::multi_label};
  const predict::Task number{.labels = {"a"}, .problem_type = ProblemType::regression};
  EXPECT_EQ(problem("--top-k=2", several), "nothing was thrown");
  EXPECT_EQ(problem("--top-k=2", number),
            "--top-k: is for models with labels; this one answers a number");
  for (const char* flag : {"--min-score=0.5", "--most-uncertain=5"}) {
    EXPECT_EQ(problem(flag, one), "nothing was thrown");
    EXPECT_NE(problem(flag, number), "nothing was thrown");
    EXPECT_NE(problem(flag, score), "nothing was thrown");
  }
  EXPECT_EQ(problem("--most-uncertain=5", several), "nothing was thrown");
  EXPECT_EQ(problem("--min-score=0.5", several),
            "--min-score: is for models that choose between labels, one for each text");
}

}  // namespace
}  // namespace seqtrain::cli
