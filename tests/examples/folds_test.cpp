#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
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

/// A program with --folds on a file of examples.
class Folds : public testing::Test {
 protected:
  void SetUp() override { SEQTRAIN_NEEDS_CHECKPOINT(); }

  /// Returns a file of examples with two labels, of which the first two are swapped. The last two
  /// have one text.
  std::string examples(std::size_t count) const {
    std::string lines = "text,label,writer\n";
    for (std::size_t i = 0; i < count; ++i) {
      const bool late = i % 2 == 0;
      lines += (late ? "the train is late " : "a tasty soup ") + std::to_string(i) +
               (late != (i < 2) ? ",traffic," : ",food,") + std::to_string(i % 7) + "\n";
    }
    lines += "equal,traffic,1\nequal,food,2\n";
    return write_file(directory_ / "examples.csv", lines).string();
  }

  tests::Ended train(const std::string& flags) const {
    return run_example("mnli", "--model " + tests::small_checkpoint().string() +
                                   " --threads 1 --max-length 16 --output-dir " + run().string() +
                                   " " + flags);
  }
  std::filesystem::path run() const { return directory_ / "run"; }

  struct Line {
    std::int64_t row = 0, fold = 0;
    std::string text;
  };
  std::vector<Line> out_of_fold() const {
    std::vector<Line> lines;
    std::istringstream in{tests::read_file(run() / "out_of_fold.jsonl")};
    for (std::string line; std::getline(in, line);) {
      const auto document = json::Document::parse(line, "line");
      lines.push_back(
          {document.root().at("row").integer(), document.root().at("fold").integer(), line});
    }
    return lines;
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(Folds, PredictEachExampleByAModelThatHasNotLearnedFromIt) {
  const std::string flags = "--folds 3 --max-steps 2 --group-field writer --job-dir " +
                            (directory_ / "job").string() + " --train-file ";
  const auto file = examples(40);
  auto ended = train(flags + file);
  ASSERT_EQ(ended.code, 0) << ended.output;
  const auto lines = out_of_fold();
  ASSERT_EQ(lines.size(), 42U);
  std::map<std::int64_t, std::set<std::int64_t>> folds_of_group;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].row, static_cast<std::int64_t>(i) + 1);
    if (i < 40) folds_of_group[static_cast<std::int64_t>(i % 7)].insert(lines[i].fold);
  }
  for (const auto& [group, folds] : folds_of_group) EXPECT_EQ(folds.size(), 1U) << group;
  const auto metrics = json::Document::load(run() / "metrics.json");
  const auto all = metrics.root().at("cross_validation");
  EXPECT_EQ(all.at("folds").integer(), 3);
  EXPECT_EQ(all.at("figures").at("accuracy").at("each").items().size(), 3U);
  EXPECT_EQ(all.at("baseline").at("linear accuracy").at("each").items().size(), 3U);
  EXPECT_EQ(all.at("equal_texts_with_different_labels").integer(), 1);
  EXPECT_EQ(metrics.root().at("dev").at("examples").integer(), 42);
  EXPECT_EQ(tests::read_file(run() / "equal_texts.csv"),
            "group,row,text,label\n1,41,equal,traffic\n1,42,equal,food\n");
  EXPECT_TRUE(tests::read_file(run() / "label_errors.csv").starts_with("row,fold,text,label,"));
  EXPECT_TRUE(std::filesystem::exists(run() / "report.html"));
  EXPECT_FALSE(std::filesystem::exists(run() / "fold-1/model"));
  EXPECT_TRUE(std::filesystem::exists(run() / "fold-3/report.html"));
  const auto published = [&] {
    const std::filesystem::directory_iterator folders{directory_ / "job"};
    return std::vector<std::filesystem::path>{begin(folders), end(folders)};
  };
  ASSERT_EQ(published().size(), 1U);
  EXPECT_EQ(tests::read_file(published().front() / "out_of_fold.jsonl"),
            tests::read_file(run() / "out_of_fold.jsonl"));

  // A finished fold is kept; another is trained to the same bits.
  const auto first = tests::read_file(run() / "out_of_fold.jsonl");
  const auto kept = std::filesystem::last_write_time(run() / "fold-1/metrics.json");
  std::filesystem::remove_all(run() / "fold-2");
  ended = train(flags + file + " --resume auto");
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("Fold 1 of 3 is finished"), std::string::npos) << ended.output;
  EXPECT_EQ(tests::read_file(run() / "out_of_fold.jsonl"), first);
  EXPECT_EQ(std::filesystem::last_write_time(run() / "fold-1/metrics.json"), kept);
  EXPECT_EQ(published().size(), 1U);  // the results are there already

  // Without --resume nothing that is finished is lost.
  std::filesystem::remove(run() / "metrics.json");  // as if it had been killed in the last fold
  std::filesystem::remove(run() / "fold-3/metrics.json");
  ended = train(flags + file);
  EXPECT_EQ(ended.code, 2) << ended.output;
  EXPECT_NE(ended.output.find("already holds a cross-validation: folds.json is there"),
            std::string::npos)
      << ended.output;
  EXPECT_EQ(std::filesystem::last_write_time(run() / "fold-1/metrics.json"), kept);
  ended = train(flags + file + " --resume auto");
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(tests::read_file(run() / "out_of_fold.jsonl"), first);
  std::filesystem::remove(published().front() / "manifest.json");
  ended = train(flags + file + " --resume auto");  // as if the first upload had been cut short
  ASSERT_EQ(ended.code, 0) << ended.output;
  ASSERT_EQ(published().size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(published().front() / "manifest.json"));
  ended = train("--folds 3 --max-steps 3 --group-field writer --resume auto --train-file " + file);
  EXPECT_EQ(ended.code, 2) << ended.output;
  EXPECT_NE(ended.output.find("belongs to a cross-validation with another max-steps"),
            std::string::npos)
      << ended.output;
}

TEST_F(Folds, FindLabelsThatAreWrong) {
  const auto ended =
      train("--folds 2 --epochs 6 --learning-rate 3e-3 --train-file " + examples(60));
  ASSERT_EQ(ended.code, 0) << ended.output;
  const auto errors = tests::read_file(run() / "label_errors.csv");
  EXPECT_NE(errors.find("\n1,"), std::string::npos) << errors << ended.output;
  EXPECT_NE(errors.find("\n2,"), std::string::npos) << errors;
  EXPECT_NE(ended.output.find("labels are probably wrong: see "), std::string::npos);
}

TEST_F(Folds, RefuseWrongInputBeforeAnythingIsWritten) {
  const auto file = examples(10);
  const auto refused = [&](const std::string& flags, std::string_view problem) {
    const auto ended = train("--train-file " + file + " " + flags);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_NE(ended.output.find(problem), std::string::npos) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(run()));
  };
  refused("--folds 1", "--folds: must be 0, or 2 to 1000");
  refused("--folds 7", "has 6 examples of the label 'food', fewer than --folds 7");
  refused("--folds 8 --group-field writer", "names 7 groups, fewer than --folds 8");
  refused("--folds 2 --dev-file " + file, "--dev-file: does not go with --folds");
  refused("--folds 2 --dev-fraction 0.1", "--dev-fraction: does not go with --folds");
  refused("--folds 2 --test-file " + file, "--test-file: does not go with --folds");
  refused("--folds 2 --split-field writer", "--split-field: does not go with --folds");
  refused("--folds 2 --calibrate yes", "--calibrate: does not go with --folds");
  const auto one =
      write_file(directory_ / "one.csv", "text,label,writer\na,x,1\nb,y,1\nc,x,1\nd,y,1\n");
  const auto ended = train("--folds 2 --group-field writer --train-file " + one.string());
  EXPECT_EQ(ended.code, 2) << ended.output;
  EXPECT_NE(ended.output.find("names one group"), std::string::npos) << ended.output;
}

}  // namespace
}  // namespace seqtrain
