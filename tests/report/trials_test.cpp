#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iomanip>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/report/trials.hpp>
#include <seqtrain/train/events.hpp>

#include "support/environment.hpp"
#include "support/run_events.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::report {
namespace {

namespace fs = std::filesystem;

static_assert(train::Observer<Trials>);

struct TrialsTest : testing::Test {
  void evaluate(Trials& trials, std::int64_t step, std::string_view split = "dev") {
    trials.on(train::EvalEnd{split, 1, step, 1.5, report});
  }

  std::string written() { return tests::read_file(file); }

  /// Returns the members of each line but the time. Numbers in texts are written as C++ does it.
  static std::vector<std::map<std::string, std::string>> lines(std::string text) {
    text = std::regex_replace(text, std::regex{"TIME"}, "0");
    std::vector<std::map<std::string, std::string>> lines;
    std::istringstream all{text};
    for (std::string line; std::getline(all, line);) {
      const auto document = json::Document::parse(line, "line");
      auto& members = lines.emplace_back();
      for (const auto& [name, value] : document.root().members()) {
        if (name == "timestamp") continue;
        const std::string written{value.string()};
        char* end = nullptr;
        const double number = std::strtod(written.c_str(), &end);
        const bool is_number = !written.empty() && *end == '\0';
        std::ostringstream all_digits;
        all_digits << std::setprecision(17) << number;
        members[std::string{name}] = is_number ? all_digits.str() : written;
      }
    }
    return lines;
  }

  const tests::TemporaryDirectory directory;
  const fs::path file = directory / "some/folder/output.metrics";
  const tests::Environment metric_file{"CLOUD_ML_HP_METRIC_FILE", file.string()};
  const tests::Environment no_trial{"CLOUD_ML_TRIAL_ID", std::nullopt};
  metrics::ClassificationReport report = tests::some_report();
  std::vector<std::string> warnings;
  const std::function<void(std::string_view)> warn = [this](std::string_view text) {
    warnings.emplace_back(text);
  };
};

TEST_F(TrialsTest, WritesWhatHypertuneWrites) {
  const auto golden = json::Document::load(tests::golden() / "trials.json");
  for (const auto& expected : golden.root().at("cases").items()) {
    std::optional<std::string> trial;
    if (const auto id = expected.find("trial")) trial = id->string();
    const tests::Environment trial_id{"CLOUD_ML_TRIAL_ID", trial};
    const std::string tag{expected.at("tag").string()};
    Trials trials{{.enabled = true, .metric = tag, .warn = warn}};
    std::int64_t step = 0;
    for (const auto& value : expected.at("values").items()) {
      const double number = std::stod(std::string{value.string()});
      report = {.examples = 8, .accuracy = number, .loss = number};
      report.labels = {{.f1 = number, .support = 1}};
      report.figures = {{tag, number}};
      evaluate(trials, step);
      step += 100;
    }
    EXPECT_EQ(lines(written()), lines(std::string{expected.at("file").string()}))
        << expected.at("name").string();
  }
  EXPECT_EQ(warnings, std::vector<std::string>{});
}

TEST_F(TrialsTest, WritesTheTimeInSeconds) {
  Trials trials{{.enabled = true}};
  evaluate(trials, 3);
  const auto text = tests::read_file(file);
  const auto line = json::Document::parse(text, "line");
  EXPECT_GT(line.root().at("timestamp").number(), 1.7e9);
  EXPECT_LT(line.root().at("timestamp").number(), 1e11);
}

TEST_F(TrialsTest, WritesNothingUnlessEnabled) {
  Trials trials;
  evaluate(trials, 3);
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST_F(TrialsTest, HearsOnlyTheDevSplit) {
  Trials trials{{.enabled = true}};
  evaluate(trials, 3, "test");
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST_F(TrialsTest, ChoosesTheMetricByTheProblem) {
  Trials trials{{.enabled = true}};
  evaluate(trials, 1);
  report = tests::some_report_of_several_labels();
  evaluate(trials, 2);
  report = tests::some_report_of_regression();
  evaluate(trials, 3);
  const std::string text = written();
  EXPECT_NE(text.find(R"("accuracy":"0.75","checkpoint_path":"","global_step":"1")"),
            std::string::npos);
  EXPECT_NE(text.find(R"("micro_f1":"0.8")"), std::string::npos);
  EXPECT_NE(text.find(R"("loss":"0.5")"), std::string::npos);
}

TEST_F(TrialsTest, WarnsOnceOfAMetricThatThereIsNot) {
  Trials trials{{.enabled = true, .metric = "f2", .warn = warn}};
  evaluate(trials, 1);
  evaluate(trials, 2);
  EXPECT_EQ(warnings, std::vector<std::string>{
                          file.string() + ": there is no metric 'f2'; the tuning service is not "
                                          "told how good this trial is, and training goes on"});
}

TEST_F(TrialsTest, WarnsOnceWhereItCannotWriteAndTriesAgain) {
  tests::write_file(directory / "some", "a file");
  Trials trials{{.enabled = true, .warn = warn}};
  evaluate(trials, 1);
  evaluate(trials, 2);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find((directory / "some").string()), std::string::npos) << warnings[0];
  fs::remove(directory / "some");
  evaluate(trials, 3);
  EXPECT_EQ(std::ranges::count(written(), '\n'), 3);
}

TEST_F(TrialsTest, TakesANameWithoutADirectory) {
  const auto before = fs::current_path();
  fs::current_path(directory.path());
  const tests::Environment here{"CLOUD_ML_HP_METRIC_FILE", "output.metrics"};
  Trials trials{{.enabled = true, .warn = warn}};
  evaluate(trials, 1);
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(directory / "output.metrics"));
}

}  // namespace
}  // namespace seqtrain::report
