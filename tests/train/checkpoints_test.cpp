#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/peak_memory.hpp>
#include <seqtrain/train/checkpoints.hpp>
#include <seqtrain/trainer.hpp>

#include "support/fake_store.hpp"
#include "support/fakes.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::train {
namespace {

namespace fs = std::filesystem;

/// What a run came to, and all it said on the way.
struct Outcome {
  double weight = 0;
  std::vector<double> losses = {};  ///< by step; a step that was taken again has its last
  std::vector<double> accuracies = {};
  bool ended = false;
};

struct Watch {
  void on(const StepEnd& event) {
    outcome->losses.resize(static_cast<std::size_t>(event.step));
    outcome->losses.back() = event.loss();
    if (event.step == die_after) throw std::runtime_error{"killed"};
    if (event.step == stop_after) stop->request_stop();
  }
  void on(const EvalStep& event) {
    if (event.split == "dev" && ++evaluated == stop_in_evaluation) stop->request_stop();
  }

  Outcome* outcome = nullptr;
  std::stop_source* stop = nullptr;
  std::int64_t die_after = -1;
  std::int64_t stop_after = -1;
  std::int64_t stop_in_evaluation = -1;  ///< at that batch of the dev set, counted over the run
  std::int64_t evaluated = 0;
};

struct CheckpointsTest : testing::Test {
  CheckpointOptions options() {
    return {.directory = temporary / "checkpoints",
            .every = 1,
            .minutes = 0,
            .keep = 3,
            .resume = true,
            .run = {.settings = {{"seed", "1"}, {"batch-size", "2"}}},
            .log = [this](std::string_view text) { said.emplace_back(text); }};
  }

  /// Runs a while: three epochs of four steps of up to two batches.
  void run(Outcome& outcome, const Watch& how, CheckpointOptions with,
           std::unique_ptr<CheckpointStore> store = {}) {
    std::stop_source stop;
    Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01},
                    tests::FakeLoader{{1, 2, 3, -1, -2, 4, 5}, 1}, tests::FakeSink{}};
    Watch watch{how};
    watch.outcome = &outcome;
    watch.stop = &stop;
    Checkpoints checkpoints{std::move(with), std::move(store)};
    FitOptions fit{.epochs = 3, .gradient_accumulation_steps = 2, .best_model = best_model};
    fit.stop = stop.get_token();
    const auto report = trainer.fit(fit, tests::FakeLoader{{1, -1, 3}, 1}, watch, checkpoints);
    outcome.weight = trainer.model().weight();
    for (const auto& dev : report.dev) outcome.accuracies.push_back(dev.accuracy);
    outcome.ended = true;
    checkpoints.finish();
  }

  Outcome undisturbed() {
    Outcome outcome;
    auto nowhere = options();
    nowhere.directory = temporary / "undisturbed";
    nowhere.resume = false;
    run(outcome, {}, nowhere);
    return outcome;
  }

  static void expect_equal(const Outcome& a, const Outcome& b) {
    EXPECT_TRUE(a.ended && b.ended);
    EXPECT_EQ(a.weight, b.weight);
    EXPECT_EQ(a.losses, b.losses);
    EXPECT_EQ(a.accuracies, b.accuracies);
  }

  bool best_model = false;
  const tests::TemporaryDirectory temporary;
  std::vector<std::string> said;
};

TEST_F(CheckpointsTest, AKilledRunEndsAsOneThatWasLeftAlone) {
  for (const bool best : {false, true}) {
    best_model = best;
    const Outcome whole = undisturbed();
    ASSERT_EQ(whole.losses.size(), 12U);
    for (std::int64_t every : {1, 3, 5}) {
      fs::remove_all(temporary / "checkpoints");
      auto often = options();
      often.every = every;
      Outcome outcome;
      for (std::int64_t step = 1; step <= 12; ++step) {
        EXPECT_THROW(run(outcome, {.die_after = step}, often), std::runtime_error) << step;
      }
      run(outcome, {}, often);
      expect_equal(outcome, whole);
    }
  }
}

TEST_F(CheckpointsTest, AStoppedRunLosesNoStep) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  auto never_by_itself = options();
  never_by_itself.every = 0;
  for (std::int64_t step = 1; step <= 12; ++step) {
    EXPECT_THROW(run(outcome, {.stop_after = step}, never_by_itself), Stopped) << step;
    EXPECT_EQ(CheckpointDirectory{temporary / "checkpoints"}.steps().back(), step);
    for (std::int64_t batch = 1; step % 4 == 0 && batch <= 3; ++batch) {
      Outcome again = outcome;
      EXPECT_THROW(run(again, {.stop_in_evaluation = batch}, never_by_itself), Stopped) << batch;
    }
  }
  run(outcome, {}, never_by_itself);
  expect_equal(outcome, whole);
}

TEST_F(CheckpointsTest, AStopBeforeTheFirstStepIsACheckpointToo) {
  std::stop_source stop;
  stop.request_stop();
  Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01}, tests::FakeLoader{{1, 2}, 1},
                  tests::FakeSink{}};
  Checkpoints checkpoints{options()};
  FitOptions fit{};
  fit.stop = stop.get_token();
  EXPECT_THROW((void)trainer.fit(fit, checkpoints), Stopped);
  EXPECT_EQ(CheckpointDirectory{temporary / "checkpoints"}.steps(), std::vector<std::int64_t>{0});
}

TEST_F(CheckpointsTest, GoesOnFromTheOneBeforeABrokenOne) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 5}, options()), Stopped);
  const auto newest = temporary / "checkpoints/checkpoint-5/optimizer.safetensors";
  std::string bytes = tests::read_file(newest);
  bytes.back() ^= 1;
  tests::write_file(newest, bytes);
  run(outcome, {}, options());
  expect_equal(outcome, whole);
  EXPECT_NE(std::ranges::find_if(said,
                                 [](const std::string& line) {
                                   return line.starts_with("checkpoint-5 is not used");
                                 }),
            said.end());
}

TEST_F(CheckpointsTest, NamesTheSettingsThatDiffer) {
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 2}, options()), Stopped);
  auto other = options();
  other.run.settings = {{"seed", "2"}, {"dropout", "0.1"}};
  const auto problem = tests::problem_of([&] { run(outcome, {}, other); });
  EXPECT_NE(problem.find("seed (1 there, 2 here)"), std::string::npos) << problem;
  EXPECT_NE(problem.find("dropout (unset there, 0.1 here)"), std::string::npos) << problem;
  EXPECT_NE(problem.find("batch-size (2 there, unset here)"), std::string::npos) << problem;
  auto afresh = other;
  afresh.resume = false;
  run(outcome, {}, afresh);
  EXPECT_TRUE(outcome.ended);
}

TEST_F(CheckpointsTest, GoesOnWithASettingThatItDoesNotKnow) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 2}, options()), Stopped);
  auto later = options();
  later.run.settings.emplace_back("problem-type", "");
  run(outcome, {}, later);
  expect_equal(outcome, whole);
}

TEST_F(CheckpointsTest, GoesOnFromTheOneThatIsNamed) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  for (const std::int64_t step : {4, 6}) {
    EXPECT_THROW(run(outcome, {.stop_after = step}, options()), Stopped);
  }
  auto named = options();
  named.resume = false;
  named.from = temporary / "checkpoints/checkpoint-4";
  run(outcome, {}, named);
  expect_equal(outcome, whole);
  named.from = temporary / "checkpoints/checkpoint-400";
  EXPECT_THROW(run(outcome, {}, named), Error);
}

TEST_F(CheckpointsTest, OneAtATimeHasTheDirectory) {
  Checkpoints first{options()};
  Checkpoints second{options()};
  const std::function<void(const SavedFit&)> nothing = [](const SavedFit&) {};
  first.on(Restore{nothing});
  const auto problem = tests::problem_of([&] { second.on(Restore{nothing}); });
  EXPECT_NE(problem.find("another process"), std::string::npos) << problem;
}

TEST_F(CheckpointsTest, AFullDiskIsToldAndDoesNotEndTheRun) {
  // A file where the directory was: nothing can be written.
  struct Spoiler {
    void on(const StepEnd& event) const {
      if (event.step != 1) return;
      fs::remove_all(path);
      tests::write_file(path, "");
    }
    fs::path path;
  };
  Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01}, tests::FakeLoader{{1, 2, 3}, 1},
                  tests::FakeSink{}};
  Checkpoints checkpoints{options()};
  EXPECT_EQ(trainer.fit({.epochs = 2}, Spoiler{temporary / "checkpoints"}, checkpoints).steps, 6);
  EXPECT_THROW(checkpoints.finish(), Error);
  ASSERT_FALSE(said.empty());
  EXPECT_NE(said[0].find("could not be saved, older ones stay"), std::string::npos);
}

TEST_F(CheckpointsTest, AStoreHelpsOutWhereTheMachineIsNew) {
  const auto reach = std::make_shared<tests::FakeStore::Reach>();
  const auto store = [&] { return std::make_unique<tests::FakeStore>(temporary / "there", reach); };
  const Outcome whole = undisturbed();
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 7}, options(), store()), Stopped);
  fs::remove_all(temporary / "checkpoints");
  run(outcome, {}, options(), store());
  expect_equal(outcome, whole);
  EXPECT_NE(said.back().find("checkpoint-7"), std::string::npos);
}

TEST_F(CheckpointsTest, AStoreOutOfReachIsAnErrorAtTheEndOnly) {
  const auto reach = std::make_shared<tests::FakeStore::Reach>();
  reach->failures = 1'000'000;
  Outcome outcome;
  const auto problem = tests::problem_of([&] {
    run(outcome, {}, options(), std::make_unique<tests::FakeStore>(temporary / "there", reach));
  });
  EXPECT_TRUE(outcome.ended);
  EXPECT_NE(problem.find("cannot be reached"), std::string::npos) << problem;
  EXPECT_NE(problem.find((temporary / "checkpoints").string()), std::string::npos) << problem;
}

std::ptrdiff_t open_files() {
  return std::distance(fs::directory_iterator{"/proc/self/fd"}, fs::directory_iterator{});
}

TEST_F(CheckpointsTest, KeepsMemoryAndFilesFlat) {
  auto with = options();
  with.resume = false;
  Checkpoints checkpoints{with};
  Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.001},
                  tests::FakeLoader{std::vector<double>(100, 1.0), 1}, tests::FakeSink{}};
  (void)trainer.fit({.epochs = 1}, checkpoints);
  checkpoints.finish();
  const auto files = open_files();
  const double memory = peak_memory_mib();
  (void)trainer.fit({.epochs = 3}, checkpoints);
  checkpoints.finish();  // the last one may still be written
  EXPECT_EQ(open_files(), files);
  EXPECT_LT(peak_memory_mib(), memory + 8);
  EXPECT_LE(CheckpointDirectory{temporary / "checkpoints"}.steps().size(), 3U);
}

TEST(Checkpoints, RefusesOptionsOutOfRange) {
  const tests::TemporaryDirectory temporary;
  const auto path = temporary / "checkpoints";
  EXPECT_THROW(Checkpoints({.directory = path, .every = -1}), InputError);
  EXPECT_THROW(Checkpoints({.directory = path, .minutes = -1}), InputError);
  EXPECT_THROW(Checkpoints({.directory = path, .keep = 0}), InputError);
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace seqtrain::train
