#include <cstdint>
#include <filesystem>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/report/json_lines.hpp>
#include <seqtrain/train/events.hpp>

#include "support/file_size_limit.hpp"
#include "support/run_events.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::report {
namespace {

namespace fs = std::filesystem;

static_assert(train::Observer<JsonLines>);

struct JsonLinesTest : testing::Test {
  /// Returns the text of the records without their times.
  std::vector<std::string> lines(const fs::path& path) {
    std::vector<std::string> result;
    std::istringstream text{tests::read_file(path)};
    for (std::string line; std::getline(text, line);) {
      EXPECT_NO_THROW((void)json::Document::parse(line, "line").root().at("event"));
      result.push_back(std::regex_replace(line, time, ""));
    }
    return result;
  }

  const std::regex time{R"("time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",)"};
  const std::function<double()> loss = [] { return 0.5; };
  metrics::ClassificationReport report = tests::some_report();
  std::vector<std::string> warnings;
  const std::function<void(std::string_view)> warn = [this](std::string_view text) {
    warnings.emplace_back(text);
  };
  const tests::TemporaryDirectory directory;
  const fs::path file = directory / "run/train_log.jsonl";
};

TEST_F(JsonLinesTest, WritesARecordForEachEvent) {
  JsonLines log{file, {.every = 2}};
  log.on(train::FitBegin{1, 3, 30});
  report.loss = 0.5625;
  log.on(train::EvalEnd{"dev", 1, 3, 1.5, report});
  report.figures = {{"own", 0.5}};
  log.on(train::EvalEnd{"dev", 1, 3, 1.5, report});
  log.on(train::EpochEnd{1, 1});
  log.on(train::FitEnd{3, 20.25});
  EXPECT_EQ(
      lines(file),
      (std::vector<std::string>{
          R"({"event":"begin","epochs":1,"steps":3,"examples":30,"step":0})",
          R"({"event":"eval","split":"dev","step":3,"epoch":1,"accuracy":0.75,"macro_f1":0.75,)"
          R"("loss":0.5625,"examples":8,"seconds":1.5})",
          R"({"event":"eval","split":"dev","step":3,"epoch":1,"accuracy":0.75,"macro_f1":0.75,)"
          R"("loss":0.5625,"metrics":{"own":0.5},"examples":8,"seconds":1.5})",
          R"({"event":"epoch","epoch":1})", R"({"event":"end","step":3,"seconds":20.25})"}));
}

TEST_F(JsonLinesTest, WritesNoAccuracyOfRegression) {
  JsonLines log{file};
  log.on(train::FitBegin{1, 3, 30});
  report = tests::some_report_of_regression();
  log.on(train::EvalEnd{"dev", 1, 3, 1.5, report});
  EXPECT_EQ(lines(file).back(),
            R"({"event":"eval","split":"dev","step":3,"epoch":1,"loss":0.5,"metrics":)"
            R"({"mean_squared_error":0.5,"pearson":1,"spearman":1},"examples":4,"seconds":1.5})");
}

TEST_F(JsonLinesTest, WritesStepsAsOftenAsAskedAndAtOnce) {
  JsonLines log{file, {.every = 2}};
  log.on(train::FitBegin{1, 3, 30});
  const std::regex step{R"(\{"event":"step","step":(\d),"epoch":1,"loss":0.5,"gradient_norm":1.5,)"
                        R"("learning_rate":2e-05,"tokens_per_second":[0-9.e+]+\})"};
  std::string steps;
  for (int batch = 1; batch <= 5; ++batch) {
    log.on(tests::step(batch, 5, loss));
    std::smatch match;
    const std::string last = lines(file).back();
    ASSERT_TRUE(std::regex_match(last, match, step)) << last;
    steps += match[1];
  }
  EXPECT_EQ(steps, "12245");
}

TEST_F(JsonLinesTest, WritesTheFiguresOfTheMachineWithEachStep) {
  std::vector<metrics::Figure> figures = {{"processor_percent", 187.5}, {"gpu0_celsius", 61}};
  JsonLines log{file, {.every = 1, .machine = [&] { return figures; }}};
  log.on(train::FitBegin{1, 3, 30});
  EXPECT_EQ(lines(file).back().find("machine"), std::string::npos);
  log.on(tests::step(1, 5, loss));
  EXPECT_TRUE(
      lines(file).back().ends_with(R"(,"machine":{"processor_percent":187.5,"gpu0_celsius":61}})"));
  figures.clear();
  log.on(tests::step(2, 5, loss));
  EXPECT_EQ(lines(file).back().find("machine"), std::string::npos);
}

TEST_F(JsonLinesTest, AppearsWhenTheFitBegins) {
  JsonLines log{file};
  log.on(train::EvalEnd{"dev", 0, 0, 1, report});
  EXPECT_TRUE(fs::is_empty(directory.path()));
  log.on(train::FitBegin{});
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(JsonLinesTest, LeavesAnEarlierLogAloneUntilTheFitHasEnded) {
  fs::create_directory(file.parent_path());
  tests::write_file(file, "earlier\n");
  JsonLines log{file};
  log.on(train::FitBegin{});
  log.on(tests::step(1, 1, loss));
  EXPECT_EQ(tests::read_file(file), "earlier\n");
  log.on(train::FitEnd{});
  EXPECT_EQ(lines(file).size(), 3U);
  log.on(train::EvalEnd{"test", 1, 1, 1, report});
  EXPECT_EQ(lines(file).size(), 4U);
  EXPECT_EQ(std::distance(fs::directory_iterator{file.parent_path()}, {}), 1);
}

TEST_F(JsonLinesTest, GoesOnWithItsOwnLogNotWithAnEarlierRuns) {
  fs::create_directory(file.parent_path());
  tests::write_file(file.string() + ".partial", "earlier\n");
  {
    JsonLines killed{file, {.every = 1}};
    killed.on(train::FitBegin{1, 6, 60});
    killed.on(tests::step(1, 6, loss));
  }
  JsonLines log{file, {.every = 1}};
  log.on(train::FitBegin{1, 6, 60, {.epoch = 0, .batch = 1, .step = 1}});
  EXPECT_EQ(lines(file).size(), 3U);
}

TEST_F(JsonLinesTest, GivesALogUpThatCannotBeCreated) {
  tests::write_file(directory / "run", "");
  JsonLines log{file, {.every = 1, .warn = warn}};
  log.on(train::FitBegin{});
  log.on(tests::step(1, 1, loss));
  log.on(train::FitEnd{});
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          file.string() + ": cannot be written: Not a directory; training goes "
                                          "on without it"}));
}

TEST_F(JsonLinesTest, GivesALogUpWhereTheDiskIsFull) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  fs::create_directory(file.parent_path());
  fs::create_symlink("/dev/full", file.string() + ".partial");
  tests::write_file(file, "");
  JsonLines log{file, {.every = 1, .warn = warn}};
  log.on(train::FitBegin{});
  log.on(tests::step(1, 1, loss));
  EXPECT_EQ(warnings,
            (std::vector<std::string>{file.string() +
                                      ".partial: cannot be written: No space left on device; make "
                                      "room there, or name another place; "
                                      "training goes on without it"}));
}

TEST_F(JsonLinesTest, TriesAgainInTheNextFitAndNeedsNobodyToWarn) {
  tests::write_file(directory / "run", "");
  JsonLines log{file};
  log.on(train::FitBegin{});
  fs::remove(directory / "run");
  log.on(train::FitBegin{});
  log.on(train::FitEnd{});
  EXPECT_EQ(lines(file).size(), 2U);
}

TEST_F(JsonLinesTest, LeavesTheLogOfAnEarlierFitWholeWhereTheNextCannotBeginOne) {
  JsonLines log{file, {.every = 1, .warn = warn}};
  log.on(train::FitBegin{});
  log.on(train::FitEnd{});
  const std::string before = tests::read_file(file);
  fs::create_directories(file.string() + ".partial/in the way");
  log.on(train::FitBegin{});
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_EQ(tests::read_file(file), before);
}

TEST_F(JsonLinesTest, KeepsWholeRecordsWhereTheDiskFillsUp) {
  JsonLines log{file, {.every = 1, .warn = warn}};
  log.on(train::FitBegin{1, 9, 90});
  {
    const tests::FileSizeLimit limit{fs::file_size(file) + 200};
    for (std::int64_t batch = 1; batch <= 3; ++batch) log.on(tests::step(batch, 9, loss));
  }
  log.on(tests::step(4, 9, loss));
  log.on(train::FitEnd{});
  EXPECT_EQ(warnings.size(), 1U);
  ASSERT_EQ(lines(file).size(), 2U);
  EXPECT_EQ(tests::read_file(file).back(), '\n');
}

TEST_F(JsonLinesTest, WarnsWhereTheEarlierLogCannotBeReplaced) {
  fs::create_directories(file / "in the way");
  JsonLines log{file, {.every = 1, .warn = warn}};
  log.on(train::FitBegin{});
  EXPECT_TRUE(warnings.empty());
  log.on(train::FitEnd{});
  log.on(train::EvalEnd{"test", 1, 1, 1, report});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(warnings[0].starts_with(file.string() + ".partial: cannot be written: "));
}

TEST_F(JsonLinesTest, GivesALogUpThatCannotBeGoneOnWith) {
  fs::create_directories(file.string() + ".partial/in the way");
  JsonLines log{file, {.every = 1, .warn = warn}};
  log.on(train::FitBegin{1, 6, 60, {.epoch = 0, .batch = 2, .step = 2}});
  log.on(tests::step(3, 6, loss));
  log.on(train::FitEnd{});
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(JsonLinesTest, LeavesAKilledRunsLogAsItIsWhereItCannotBeRewritten) {
  {
    JsonLines killed{file, {.every = 1}};
    killed.on(train::FitBegin{1, 6, 60});
    for (std::int64_t batch = 1; batch <= 3; ++batch) killed.on(tests::step(batch, 6, loss));
  }
  const std::string before = tests::read_file(file);
  const tests::FileSizeLimit limit{10};
  JsonLines log{file, {.every = 1, .warn = warn}};
  log.on(train::FitBegin{1, 6, 60, {.epoch = 0, .batch = 2, .step = 2}});
  log.on(tests::step(3, 6, loss));
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_EQ(tests::read_file(file), before);
}

TEST_F(JsonLinesTest, GoesOnWithTheLogOfARunThatWasKilled) {
  const auto record = [&](JsonLines& log, std::int64_t first, std::int64_t last) {
    for (std::int64_t batch = first; batch <= last; ++batch) log.on(tests::step(batch, 6, loss));
  };
  JsonLines whole{directory / "whole.jsonl", {.every = 3}};
  whole.on(train::FitBegin{1, 6, 60});
  record(whole, 1, 6);
  {
    JsonLines killed{file, {.every = 3}};
    killed.on(train::FitBegin{1, 6, 60});
    record(killed, 1, 5);
  }
  tests::write_file(file, tests::read_file(file) + "{\"event\":\"st");  // torn
  JsonLines log{file, {.every = 3}};
  log.on(train::FitBegin{1, 6, 60, {.epoch = 0, .batch = 2, .step = 2}});
  record(log, 3, 6);
  const auto steps = [&](const fs::path& path) {
    std::vector<std::string> found;
    const std::regex pace{R"("tokens_per_second":[^}]*)"};
    for (const auto& line : lines(path)) {
      if (line.find("\"step\",") != std::string::npos) {
        found.push_back(std::regex_replace(line, pace, ""));
      }
    }
    return found;
  };
  EXPECT_EQ(steps(file), steps(directory / "whole.jsonl"));
}

}  // namespace
}  // namespace seqtrain::report
