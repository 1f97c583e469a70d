#include <cmath>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>

#include "support/program.hpp"
#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::run_example;
using tests::write_file;

/// Tests the problem types on texts whose labels say how good and how long a text is.
class ProblemTypes : public testing::Test {
 protected:
  void SetUp() override { SEQTRAIN_NEEDS_CHECKPOINT(); }

  /// Writes texts with labels in JSON to a file.
  [[nodiscard]] std::filesystem::path file_of(const std::string& good,
                                              const std::string& bad) const {
    std::string text;
    for (int i = 0; i < 12; ++i) {
      text += R"({"text": "A wonderful film, great fun.", "label": )" + good + "}\n";
      text += R"({"text": "Dull, bad and much too long.", "label": )" + bad + "}\n";
    }
    return write_file(directory_ / "train.jsonl", text);
  }

  [[nodiscard]] tests::Ended run(
      const std::filesystem::path& file, const std::string& output, const std::string& more,
      const std::filesystem::path& model = tests::small_checkpoint()) const {
    return run_example(
        "mnli", "--model " + model.string() + " --train-file " + file.string() + " --dev-file " +
                    file.string() + " --output-dir " + (directory_ / output).string() +
                    " --max-length 16 --batch-size 8 --learning-rate 3e-3 --dropout 0"
                    " --threads 1 --precision fp32 --log-every 1 " +
                    more);
  }

  [[nodiscard]] std::vector<std::string> predict(const std::string& output) const {
    const auto input = write_file(directory_ / "input.jsonl",
                                  "{\"text\": \"A wonderful film, great fun.\"}\n"
                                  "{\"text\": \"Dull, bad and much too long.\"}\n");
    const auto ended =
        run_example("predict", "--threads 1 --model " + (directory_ / output / "model").string() +
                                   " < " + input.string());
    EXPECT_EQ(ended.code, 0) << ended.output;
    std::vector<std::string> lines;
    std::istringstream text{ended.output};
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  [[nodiscard]] json::Document document(const std::string& name) const {
    return json::Document::load(directory_ / name);
  }

  /// A line of predictions.jsonl for the labels bad and good.
  struct Row {
    std::string gold;
    double bad, good;  ///< scores
    double loss;
  };

  [[nodiscard]] std::vector<Row> rows_of(const std::string& output) const {
    std::vector<Row> rows;
    std::istringstream text{tests::read_file(directory_ / output / "predictions.jsonl")};
    for (std::string line; std::getline(text, line);) {
      const auto row = json::Document::parse(line, "row");
      const auto scores = row.root().at("scores").items();
      rows.push_back({std::string{row.root().at("gold").string()}, scores.at(0).number(),
                      scores.at(1).number(), row.root().at("loss").number()});
    }
    return rows;
  }

  /// Expects the dev loss of a run to be the mean of its rows' losses.
  void expect_mean(const std::string& output) const {
    double sum = 0;
    const auto rows = rows_of(output);
    for (const Row& row : rows) sum += row.loss;
    const auto metrics = document(output + "/metrics.json");
    EXPECT_NEAR(metrics.root().at("dev").at("loss").number(),
                sum / static_cast<double>(rows.size()), 1e-6);
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(ProblemTypes, OfLabelsThatAreAlikeAreSaid) {
  const auto file = write_file(directory_ / "alike.csv",
                               "text,label\na,good\nb,GOOD \nc,good\nd,NULL\ne,\"bad\nfilm\"\n");
  const auto apart = run(file, "apart", "--max-steps 1");
  ASSERT_EQ(apart.code, 0) << apart.output;
  for (const char* part :
       {"different labels to the model: 'good' (2), 'GOOD ' (1); --join-labels joins",
        "a missing value are labels to the model: 'NULL' (1);", "\nbad\\nfilm  "}) {
    EXPECT_NE(apart.output.find(part), std::string::npos) << part << "\n" << apart.output;
  }
  const auto joined = run(file, "joined", "--max-steps 1 --join-labels");
  ASSERT_EQ(joined.code, 0) << joined.output;
  EXPECT_NE(joined.output.find("One label, 'good': 'good' (2), 'GOOD ' (1)\n"), std::string::npos)
      << joined.output;
  EXPECT_NE(joined.output.find("good 3 (60.0 %)"), std::string::npos) << joined.output;
  EXPECT_EQ(joined.output.find("different labels"), std::string::npos) << joined.output;
}

TEST_F(ProblemTypes, OfRegressionLearnsNumbers) {
  const auto ended =
      run(file_of("1.5", "-1.5"), "run", "--problem-type regression --best-model --epochs 12");
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("Dev loss after epoch 1: "), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("\nmean_squared_error  "), std::string::npos) << ended.output;
  EXPECT_EQ(ended.output.find("accuracy"), std::string::npos) << ended.output;
  const auto metrics = document("run/metrics.json");
  const auto dev = metrics.root().at("dev");
  EXPECT_EQ(dev.at("problem_type").string(), "regression");
  EXPECT_LT(dev.at("loss").number(), 1);
  EXPECT_GT(dev.at("metrics").at("pearson").number(), 0.99);
  EXPECT_FALSE(dev.find("accuracy"));
  const auto baseline = metrics.root().at("baseline");
  EXPECT_NEAR(baseline.at("mean").at("mean_squared_error").number(), 1.5 * 1.5, 0.01);
  EXPECT_LT(baseline.at("linear").at("mean_squared_error").number(), 1);
  const auto config = document("run/model/config.json");
  EXPECT_EQ(config.root().at("problem_type").string(), "regression");
  EXPECT_EQ(config.root().at("id2label").at("0").string(), "LABEL_0");
  const auto lines = predict("run");
  ASSERT_EQ(lines.size(), 2U);
  const auto good = json::Document::parse(lines[0], "good");
  const auto bad = json::Document::parse(lines[1], "bad");
  EXPECT_GT(good.root().at("value").number(), 0);
  EXPECT_LT(bad.root().at("value").number(), 0);
}

TEST_F(ProblemTypes, OfRegressionBeginsAtTheMean) {
  const auto error_of = [this](const std::string& output) {
    const auto dev = document(output + "/metrics.json");
    return dev.root().at("dev").at("metrics").at("mean_squared_error").number();
  };
  const std::string flags = "--problem-type regression --max-steps 1";
  const auto fresh = run(file_of("101", "99"), "new", flags);
  ASSERT_EQ(fresh.code, 0) << fresh.output;
  EXPECT_NEAR(error_of("new"), 1, 0.5);
  const auto model = directory_ / "new/model";
  const auto trained = run(file_of("1", "-1"), "trained", flags, model);
  ASSERT_EQ(trained.code, 0) << trained.output;
  EXPECT_NEAR(error_of("trained"), 100 * 100, 200);
}

/// Texts with numbers in two columns, in which every eighth row lacks one.
std::string two_numbers() {
  std::string text = "text,joy,length\n";
  for (int i = 0; i < 24; ++i) {
    const bool good = i % 2 == 0;
    text += (good ? "\"A wonderful film, great fun.\"," : "\"Dull, bad and much too long.\",");
    text += std::string{good ? "1.5" : "-1.5"} + "," + (i % 8 == 7 ? "" : good ? "1" : "3") + "\n";
  }
  return text;
}

TEST_F(ProblemTypes, OfRegressionLearnsSeveralNumbers) {
  const auto file = write_file(directory_ / "train.csv", two_numbers());
  const std::string flags = "--problem-type regression --label-field joy,length ";
  const auto refused = run(file, "run", flags + "--max-steps 1");
  EXPECT_EQ(refused.code, 2) << refused.output;
  EXPECT_NE(refused.output.find("train.csv:9: the number in 'length' is missing"),
            std::string::npos)
      << refused.output;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
  const auto ended = run(file, "run", flags + "--skip-unlabelled --best-model --epochs 20");
  ASSERT_EQ(ended.code, 0) << ended.output;
  for (const char* part : {"\ntarget  mean_squared_error", "\njoy     ", "\nlength  "}) {
    EXPECT_NE(ended.output.find(part), std::string::npos) << part << "\n" << ended.output;
  }
  const auto metrics = document("run/metrics.json");
  const auto dev = metrics.root().at("dev");
  EXPECT_EQ(dev.at("examples").integer(), 21);
  const auto of = [&](const char* name) { return dev.at("metrics").at(name).number(); };
  EXPECT_GT(of("joy_pearson"), 0.99);
  EXPECT_LT(of("length_pearson"), 1.001);
  EXPECT_NEAR((of("joy_mean_squared_error") + of("length_mean_squared_error")) / 2,
              of("mean_squared_error"), 1e-9);
  EXPECT_NEAR(dev.at("loss").number(), of("mean_squared_error"), 1e-5);
  const auto baseline = metrics.root().at("baseline");
  EXPECT_NEAR(baseline.at("mean").at("length_mean_squared_error").number(), 1, 0.1);
  EXPECT_LT(baseline.at("linear").at("joy_mean_squared_error").number(), 1);
  const auto config = document("run/model/config.json");
  EXPECT_EQ(config.root().at("problem_type").string(), "regression");
  EXPECT_EQ(config.root().at("id2label").at("1").string(), "length");
  const auto row = json::Document::parse(
      tests::read_file(directory_ / "run/predictions.jsonl")
          .substr(0, tests::read_file(directory_ / "run/predictions.jsonl").find('\n')),
      "row");
  EXPECT_EQ(row.root().at("gold").at("joy").number(), 1.5);
  EXPECT_TRUE(row.root().at("predicted").at("length").is_number());
  const auto page = tests::read_file(directory_ / "run/report.html");
  for (const char* part : {"Figures by target", "dev-scatter-1", "true values of length"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  const auto lines = predict("run");
  ASSERT_EQ(lines.size(), 2U);
  const auto good = json::Document::parse(lines[0], "good");
  EXPECT_GT(good.root().at("values").at("joy").number(), 0);
  EXPECT_LT(json::Document::parse(lines[1], "bad").root().at("values").at("joy").number(), 0);
  const auto again = run_example(
      "mnli", "--model " + (directory_ / "run/model").string() + " --train-file " + file.string() +
                  " --dev-file " + file.string() + " --output-dir " +
                  (directory_ / "again").string() +
                  " --label-field joy,length --skip-unlabelled --threads 1 --max-length 16 "
                  "--max-steps 1 --metric-for-best-model joy_r_squared --best-model");
  EXPECT_EQ(again.code, 0) << again.output;
}

TEST_F(ProblemTypes, OfSeveralNumbersEndWithTheSameBitsAfterAKill) {
  const auto file = write_file(directory_ / "train.csv", two_numbers());
  const std::string flags =
      "--problem-type regression --label-field joy,length --skip-unlabelled --epochs 30 "
      "--checkpoint-every 4 --no-baseline ";
  ASSERT_EQ(run(file, "whole", flags).code, 0);
  const auto log = directory_ / "killed/checkpoints";
  const std::string command =
      std::string{SEQTRAIN_EXAMPLES_DIR} + "/mnli --model " + tests::small_checkpoint().string() +
      " --train-file " + file.string() + " --dev-file " + file.string() + " --output-dir " +
      (directory_ / "killed").string() +
      " --max-length 16 --batch-size 8 --learning-rate 3e-3 --dropout 0 --threads 1"
      " --precision fp32 --log-every 1 " +
      flags + "--resume auto";
  const auto killed = tests::run_command(
      command + " & pid=$!; while kill -0 $pid && [ -z \"$(find " + log.string() +
      " -name manifest.json 2> /dev/null)\" ]; do sleep 0.01; done; kill -KILL $pid; wait $pid");
  ASSERT_EQ(killed.code, 137) << killed.output;
  const auto rest = run(file, "killed", flags + "--resume auto");
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_NE(rest.output.find("Resumed from "), std::string::npos) << rest.output;
  EXPECT_EQ(tests::read_file(directory_ / "whole/model/model.safetensors"),
            tests::read_file(directory_ / "killed/model/model.safetensors"));
  EXPECT_EQ(tests::read_file(directory_ / "whole/predictions.jsonl"),
            tests::read_file(directory_ / "killed/predictions.jsonl"));
}

TEST_F(ProblemTypes, OfSeveralNumbersInAnArrayAreNamedByAFlag) {
  const auto file = file_of("[1.5, 0]", "[-1.5, 1]");
  const auto refused = run(file, "run", "--problem-type regression --max-steps 1");
  EXPECT_EQ(refused.code, 2) << refused.output;
  EXPECT_NE(refused.output.find("train.jsonl:1: label: '[1.5,0]' is not a finite number; --labels "
                                "a,b names the targets of a model of several"),
            std::string::npos)
      << refused.output;
  const std::string flags = "--problem-type regression --labels joy,length ";
  for (const char* more : {"--calibrate yes", "--class-weights auto", "--few-shot",
                           "--label-smoothing-factor 0.1", "--soft-labels"}) {
    const auto other = run(file, "run", flags + more + std::string{" --max-steps 1"});
    EXPECT_EQ(other.code, 2) << other.output;
    EXPECT_NE(other.output.find("does not go with regression"), std::string::npos) << other.output;
  }
  const auto ended =
      run_example("mnli", "--model " + tests::small_checkpoint().string() + " --train-file " +
                              file.string() + " --output-dir " + (directory_ / "run").string() +
                              " --max-length 16 --threads 1 --folds 2 --epochs 2 " + flags);
  ASSERT_EQ(ended.code, 0) << ended.output;
  const auto metrics = document("run/metrics.json");
  const auto figures = metrics.root().at("cross_validation").at("figures");
  EXPECT_EQ(figures.at("joy_mean_squared_error").at("each").items().size(), 2U);
  EXPECT_GE(metrics.root().at("dev").at("metrics").at("length_mean_absolute_error").number(), 0);
  EXPECT_EQ(metrics.root().at("cross_validation").at("label_errors").integer(), 0);
  EXPECT_NE(tests::read_file(directory_ / "run/out_of_fold.jsonl").find(R"("gold":{"joy":)"),
            std::string::npos);
}

TEST_F(ProblemTypes, OfSeveralLabelsLearnsEach) {
  const auto ended = run(file_of(R"(["short", "good"])", "[]"), "run",
                         "--problem-type multi_label_classification --epochs 12");
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("micro_f1: "), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("\nmicro avg  "), std::string::npos) << ended.output;
  const auto metrics = document("run/metrics.json");
  const auto dev = metrics.root().at("dev");
  EXPECT_EQ(dev.at("problem_type").string(), "multi_label_classification");
  EXPECT_EQ(dev.at("accuracy").number(), 1);
  EXPECT_EQ(dev.at("labels").at("good").at("support").integer(), 12);
  EXPECT_EQ(dev.at("micro_average").at("f1").number(), 1);
  EXPECT_EQ(metrics.root().at("baseline").at("linear").at("micro_f1").number(), 1);
  const auto config = document("run/model/config.json");
  EXPECT_EQ(config.root().at("problem_type").string(), "multi_label_classification");
  const auto lines = predict("run");
  ASSERT_EQ(lines.size(), 2U);
  const auto good = json::Document::parse(lines[0], "good");
  EXPECT_EQ(good.root().at("labels").items().size(), 2U);
  EXPECT_GT(good.root().at("scores").at("short").number(), 0.5);
  EXPECT_GT(good.root().at("scores").at("good").number(), 0.5);
  EXPECT_TRUE(json::Document::parse(lines[1], "bad").root().at("labels").items().empty());
}

TEST_F(ProblemTypes, OfSoftLabelsLearnsTheirProbabilities) {
  const auto file = file_of(R"({"good": 0.8, "bad": 0.2})", R"({"good": 0.3, "bad": 0.7})");
  const auto ended = run(file, "run", "--soft-labels --labels bad,good --epochs 16");
  ASSERT_EQ(ended.code, 0) << ended.output;
  const auto rows = rows_of("run");
  ASSERT_EQ(rows.size(), 24U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [gold, bad, good, loss] = rows[i];
    const double teacher = i % 2 == 0 ? 0.8 : 0.3;
    EXPECT_EQ(gold, teacher > 0.5 ? "good" : "bad");
    EXPECT_NEAR(good, teacher, 0.1);
    EXPECT_NEAR(loss, -teacher * std::log(good) - (1 - teacher) * std::log(bad), 1e-5);
  }
  expect_mean("run");
  EXPECT_EQ(document("run/metrics.json").root().at("dev").at("accuracy").number(), 1);
  const auto lines = predict("run");
  ASSERT_EQ(lines.size(), 2U);
  const auto first = json::Document::parse(lines[0], "good");
  EXPECT_NEAR(first.root().at("scores").at("good").number(), 0.8, 0.1);
}

TEST_F(ProblemTypes, LearnByTheFocalLossIfAsked) {
  const auto file = file_of("\"good\"", "\"bad\"");
  const std::string flags = "--labels bad,good --epochs 2 ";
  const auto ended = run(file, "run", flags + "--loss focal --focal-gamma 2");
  ASSERT_EQ(ended.code, 0) << ended.output;
  const auto plain = run(file, "plain", flags);
  ASSERT_EQ(plain.code, 0) << plain.output;
  const auto right = [](const Row& row) { return row.gold == "good" ? row.good : row.bad; };
  const auto rows = rows_of("run");
  ASSERT_EQ(rows.size(), 24U);
  for (const Row& row : rows) {
    const double p = right(row);
    EXPECT_LT(p, 0.99);  // else both losses are about 0
    EXPECT_NEAR(row.loss, -(1 - p) * (1 - p) * std::log(p), 1e-6);
  }
  for (const Row& row : rows_of("plain")) EXPECT_NEAR(row.loss, -std::log(right(row)), 1e-6);
  expect_mean("run");
  expect_mean("plain");
  EXPECT_NE(tests::read_file(directory_ / "run/model.pth"),
            tests::read_file(directory_ / "plain/model.pth"));
}

TEST_F(ProblemTypes, GoOnToTheSameEnd) {
  const auto file = file_of("1.5", "-1.5");
  const std::string flags =
      "--problem-type regression --best-model --epochs 3 --checkpoint-every 3 "
      "--keep-checkpoints 20 --keep-last-checkpoint ";
  const auto whole = run(file, "run", flags);
  ASSERT_EQ(whole.code, 0) << whole.output;
  const auto model = tests::read_file(directory_ / "run/model.pth");
  const auto figures = document("run/metrics.json").root().at("dev").at("loss").number();
  for (const auto& entry : std::filesystem::directory_iterator{directory_ / "run/checkpoints"}) {
    for (int step = 6; step <= 9 && entry.is_directory(); ++step) {
      std::filesystem::remove_all(entry.path() / ("checkpoint-" + std::to_string(step)));
    }
  }
  const auto rest = run(file, "run", flags + "--resume auto");
  ASSERT_EQ(rest.code, 0) << rest.output;
  EXPECT_NE(rest.output.find("Resumed from "), std::string::npos) << rest.output;
  EXPECT_EQ(tests::read_file(directory_ / "run/model.pth"), model);
  EXPECT_EQ(document("run/metrics.json").root().at("dev").at("loss").number(), figures);
}

TEST_F(ProblemTypes, TellWhatIsWrong) {
  const auto numbers = file_of("1.5", "\"high\"");
  const struct {
    std::string flags;
    std::string says;
  } cases[] = {
      {"--problem-type regression", "train.jsonl:2: label: '\"high\"' is not a finite number"},
      {"--problem-type regression --class-weights auto", "--class-weights: does not go with"},
      {"--problem-type regression --labels a,b",
       "train.jsonl:1: label: '1.5' is not a JSON array of numbers for a, b"},
      {"--problem-type multi_label_classification --label-smoothing-factor 0.1",
       "--label-smoothing-factor: does not go with multi_label_classification"},
      {"--problem-type multi_label_classification",
       "train.jsonl:1: label: a label is a JSON array"},
      {"--problem-type ranking", "--problem-type: is unknown: use single_label_classification, "},
      {"", "train.jsonl:1: label: a label is a name or a whole number"},
  };
  for (const auto& [flags, says] : cases) {
    const auto ended = run(numbers, "run", flags);
    EXPECT_EQ(ended.code, 2) << flags << "\n" << ended.output;
    EXPECT_NE(ended.output.find(says), std::string::npos) << flags << "\n" << ended.output;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run")) << flags;
  }
}

}  // namespace
}  // namespace seqtrain
