#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/report/tensorboard.hpp>
#include <seqtrain/train/events.hpp>

#include "support/event_records.hpp"
#include "support/run_events.hpp"
#include "support/shared_store.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::report {
namespace {

namespace fs = std::filesystem;

static_assert(train::Observer<TensorBoard>);

struct TensorBoardTest : testing::Test {
  /// Returns the events of all files, the oldest first, without those that have the version.
  std::vector<tests::EventSeen> events() {
    std::vector<fs::path> files{fs::directory_iterator{directory.path()}, {}};
    std::ranges::sort(files);
    std::vector<tests::EventSeen> all;
    for (const auto& file : files) {
      auto events = tests::events_of(tests::read_file(file));
      EXPECT_EQ(events.at(0).version, "brain.Event:2");
      all.insert(all.end(), events.begin() + 1, events.end());
    }
    return all;
  }

  void run_steps(TensorBoard& log, std::int64_t steps) {
    for (std::int64_t step = 1; step <= steps; ++step) log.on(tests::step(step, steps, loss));
  }

  const std::function<double()> loss = [this] {
    ++asked;
    return 0.5;
  };
  int asked = 0;
  metrics::ClassificationReport report = tests::some_report();
  std::vector<std::string> warnings;
  const std::function<void(std::string_view)> warn = [this](std::string_view text) {
    warnings.emplace_back(text);
  };
  const tests::TemporaryDirectory directory;
};

TEST_F(TensorBoardTest, DrawsStepsAsOftenAsAsked) {
  TensorBoard log{directory.path(), {.every = 3}};
  log.on(train::FitBegin{1, 8, 80});
  run_steps(log, 8);
  std::vector<std::int64_t> steps;
  for (const auto& event : events()) {
    if (event.scalars.count("train/loss") > 0) steps.push_back(event.step);
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 3, 6, 8}));
  EXPECT_EQ(asked, 8);
  const auto last = events().back().scalars;
  EXPECT_EQ(last.at("train/loss"), 0.5F);
  EXPECT_EQ(last.at("train/learning_rate"), 2e-5F);
  EXPECT_EQ(last.at("train/gradient_norm"), 1.5F);
  EXPECT_GT(last.at("train/examples_per_second"), 0);
  EXPECT_NEAR(last.at("train/tokens_per_second") / last.at("train/examples_per_second"), 20, 1e-3);
}

TEST_F(TensorBoardTest, AsksForTheMachinesFiguresAsOften) {
  int times = 0;
  const auto machine = [&times] {
    return std::vector<metrics::Figure>{{"gpu_use", static_cast<double>(++times)}};
  };
  TensorBoard log{directory.path(), {.every = 3, .machine = machine}};
  run_steps(log, 8);
  EXPECT_EQ(times, 4);
  EXPECT_EQ(events().back().scalars.at("machine/gpu_use"), 4);
}

TEST_F(TensorBoardTest, WritesTheFiguresOfAnEvaluation) {
  TensorBoard log{directory.path(), {.labels = {"no", "may|be\n"}}};
  report.loss = 0.25;
  report.figures = {{"own", 0.125}};
  log.on(train::EvalEnd{"dev", 2, 70, 1.5, report});
  const auto event = events().at(0);
  EXPECT_EQ(event.step, 70);
  const std::map<std::string, float> expected{{"dev/epoch", 2},
                                              {"dev/loss", 0.25},
                                              {"dev/accuracy", 0.75},
                                              {"dev/macro_f1", 0.75},
                                              {"dev/own", 0.125},
                                              {"dev_labels/precision/no", 0.75},
                                              {"dev_labels/recall/no", 0.75},
                                              {"dev_labels/f1/no", 0.75},
                                              {"dev_labels/precision/may|be\\n", 0.75},
                                              {"dev_labels/recall/may|be\\n", 0.75},
                                              {"dev_labels/f1/may|be\\n", 0.75}};
  EXPECT_EQ(event.scalars, expected);
  EXPECT_EQ(event.texts.at("results/dev"),
            "|  | precision | recall | f1 | support |\n"
            "|---|---|---|---|---|\n"
            "| no | 0.7500 | 0.7500 | 0.7500 | 4 |\n"
            "| may\\|be\\\\n | 0.7500 | 0.7500 | 0.7500 | 4 |\n"
            "| macro avg | 0.7500 | 0.7500 | 0.7500 | 8 |\n"
            "| accuracy |  |  | 0.7500 | 8 |\n");
  EXPECT_EQ(event.texts.at("confusion/dev"),
            "| true \\\\ predicted | no | may\\|be\\\\n |\n"
            "|---|---|---|\n"
            "| no | 3 | 1 |\n"
            "| may\\|be\\\\n | 1 | 3 |\n");
}

TEST_F(TensorBoardTest, WritesFiguresOfRegressionAsATable) {
  TensorBoard log{directory.path()};
  report = tests::some_report_of_regression();
  log.on(train::EvalEnd{"test", 2, 70, 1.5, report});
  const auto event = events().at(0);
  EXPECT_EQ(event.scalars.count("test/accuracy"), 0U);
  EXPECT_EQ(event.scalars.at("test/pearson"), 1);
  EXPECT_EQ(event.texts.size(), 1U);
  EXPECT_EQ(event.texts.at("results/test"),
            "|  | value |\n"
            "|---|---|\n"
            "| mean\\_squared\\_error | 0.5000 |\n"
            "| pearson | 1.0000 |\n"
            "| spearman | 1.0000 |\n"
            "| examples | 4 |\n");
}

TEST_F(TensorBoardTest, WritesNoConfusionOfSeveralOrManyLabels) {
  TensorBoard log{directory.path()};
  report = tests::some_report_of_several_labels();
  log.on(train::EvalEnd{"dev", 1, 10, 1.5, report});
  report = metrics::make_report(metrics::Confusion::Identity(51, 51), 0.5);
  log.on(train::EvalEnd{"dev", 1, 20, 1.5, report});
  report = metrics::make_report(metrics::Confusion::Identity(50, 50), 0.5);
  log.on(train::EvalEnd{"dev", 1, 30, 1.5, report});
  const auto seen = events();
  EXPECT_EQ(seen.at(0).texts.count("confusion/dev"), 0U);
  EXPECT_EQ(seen.at(0).scalars.at("dev/micro_f1"), 0.8F);
  EXPECT_EQ(seen.at(1).texts.count("confusion/dev"), 0U);
  EXPECT_EQ(seen.at(2).texts.count("confusion/dev"), 1U);
}

TEST_F(TensorBoardTest, BeginsWithTheFlags) {
  TensorBoard log{directory.path(), {.flags = {{"model", "a|b"}, {"seed", "1"}}}};
  log.on(train::FitBegin{1, 8, 80});
  log.on(train::FitEnd{8, 20});
  const auto seen = events();
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_TRUE(seen[0].starts);
  EXPECT_EQ(seen[0].step, 0);
  EXPECT_EQ(seen[1].texts.at("flags"),
            "| flag | value |\n|---|---|\n| model | a\\|b |\n| seed | 1 |\n");
  EXPECT_EQ(seen[1].plugin_data.count("_hparams_/session_start_info"), 1U);
  EXPECT_EQ(seen[2].plugin_data.count("_hparams_/session_end_info"), 1U);
  EXPECT_EQ(seen[2].step, 8);
}

TEST_F(TensorBoardTest, DropsTheStepsThatAResumedFitDoesAgain) {
  const TensorBoardOptions options{.every = 1, .flags = {{"seed", "1"}}};
  TensorBoard killed{directory.path(), options};
  killed.on(train::FitBegin{1, 5, 50});
  run_steps(killed, 4);
  TensorBoard log{directory.path(), options};
  log.on(train::FitBegin{1, 5, 50, {.epoch = 0, .batch = 2, .step = 2}});
  log.on(tests::step(3, 5, loss));
  const auto seen = events();
  ASSERT_EQ(seen.size(), 9U);
  EXPECT_TRUE(seen[6].starts);
  EXPECT_EQ(seen[6].step, 3);
  EXPECT_EQ(seen[7].step, 2);  // flags, which stay
  EXPECT_EQ(seen[8].step, 3);
}

TEST_F(TensorBoardTest, TakesNamesThatAreNotUtf8) {
  TensorBoard log{directory.path(), {.flags = {{"a\xff", "b\xc3"}}, .labels = {"\xff", "\""}}};
  log.on(train::FitBegin{1, 8, 80});
  log.on(train::EvalEnd{"dev", 1, 10, 1.5, report});
  const auto seen = events();
  EXPECT_EQ(seen.at(1).texts.at("flags"), "| flag | value |\n|---|---|\n| a\ufffd | b\ufffd |\n");
  EXPECT_EQ(seen.at(2).scalars.count("dev_labels/f1/\ufffd"), 1U);
  EXPECT_EQ(seen.at(2).scalars.count("dev_labels/f1/\""), 1U);
}

TEST_F(TensorBoardTest, GrowsAFileInADirectory) {
  TensorBoard log{sink::Any{sink::Directory{directory / "run"}}};
  log.on(train::EvalEnd{"dev", 1, 10, 1.5, report});
  log.on(train::EvalEnd{"dev", 2, 20, 1.5, report});
  EXPECT_EQ(std::distance(fs::directory_iterator{directory / "run"}, {}), 1);
}

TEST_F(TensorBoardTest, PutsAnObjectAfterEachEvaluationAndAtTheEnd) {
  const tests::SharedStore store;
  {
    TensorBoard log{sink::Any{store}, {.flags = {{"seed", "1"}}, .warn = warn}};
    log.on(train::FitBegin{1, 8, 80});
    run_steps(log, 8);
    log.on(train::EvalEnd{"dev", 1, 8, 1.5, report});
    log.on(train::FitEnd{8, 20});
    std::size_t events = 0;
    for (const auto& key : store.list("")) {
      events += tests::events_of(store.get(key)->bytes).size() - 1;
    }
    EXPECT_EQ(events, 6U);
    log.on(train::EvalEnd{"test", 1, 8, 1.5, report});
  }
  EXPECT_EQ(tests::events_of(store.get(store.list("").back())->bytes)
                .at(1)
                .scalars.count("test/accuracy"),
            1U);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(TensorBoardTest, WarnsOnceWhereItCannotWrite) {
  tests::write_file(directory / "file", "");
  TensorBoard log{directory / "file/run", {.warn = warn}};
  log.on(train::FitBegin{1, 8, 80});
  run_steps(log, 8);
  log.on(train::EvalEnd{"dev", 1, 8, 1.5, report});
  log.on(train::FitEnd{8, 20});
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(TensorBoardTest, RefusesOptionsThatMakeNoSense) {
  EXPECT_THROW(TensorBoard(directory.path(), {.every = -1}), InputError);
  EXPECT_THROW(TensorBoard(directory.path(), {.put_seconds = -1}), InputError);
  EXPECT_THROW(TensorBoard(directory.path(), {.put_seconds = std::nan("")}), InputError);
}

}  // namespace
}  // namespace seqtrain::report
