#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/checkpoints.hpp>
#include <seqtrain/checkpoint/with_checkpointer.hpp>
#include <seqtrain/core/memory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/memory.hpp>
#include <seqtrain/trainer.hpp>

#include "support/environment.hpp"
#include "support/fakes.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::checkpoint {
namespace {

namespace fs = std::filesystem;
using Steps = std::vector<std::int64_t>;

/// The result of a run, with the losses of its steps.
struct Outcome {
  double weight = 0;
  std::vector<double> losses = {};  ///< by step; a step that was repeated has its last loss
  std::vector<double> accuracies = {};
  bool ended = false;
};

struct Watch {
  void on(const train::StepEnd& event) {
    outcome->losses.resize(static_cast<std::size_t>(event.step));
    outcome->losses.back() = event.loss();
    if (event.step == die_after) throw std::runtime_error{"killed"};
    if (event.step == stop_after) stop->request_stop();
  }
  void on(const train::EvalStep& event) {
    if (event.split == "dev" && ++evaluated == stop_in_evaluation) stop->request_stop();
  }

  Outcome* outcome = nullptr;
  std::stop_source* stop = nullptr;
  std::int64_t die_after = -1;
  std::int64_t stop_after = -1;
  /// Stops at that batch of the dev set, counted over the run.
  std::int64_t stop_in_evaluation = -1;
  std::int64_t evaluated = 0;
};

/// A store that can be unreachable. Copies share its objects.
class Shared {
 public:
  struct State {
    sink::Memory objects;
    std::atomic<int> failures{0};  ///< failures of the next writes
    std::atomic<int> puts{0};
  };

  void put(std::string_view key, std::span<const std::byte> bytes) {
    reach();
    state->objects.put(key, bytes);
  }
  void put_file(std::string_view key, const fs::path& file) {
    reach();
    state->objects.put_file(key, file);
  }
  void flush() {}
  [[nodiscard]] std::string name() const { return "the store"; }
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    return state->objects.list(key);
  }
  [[nodiscard]] std::optional<sink::Stored> get(std::string_view key) const {
    return state->objects.get(key);
  }
  bool get_file(std::string_view key, const fs::path& file) const {
    return state->objects.get_file(key, file);
  }
  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    return state->objects.put_if(key, bytes, generation);
  }
  void remove(std::string_view key) { state->objects.remove(key); }

  std::shared_ptr<State> state = std::make_shared<State>();

 private:
  void reach() {
    ++state->puts;
    if (state->failures == 0) return;
    --state->failures;
    throw Error{"cannot be reached"};
  }
};

static_assert(Store<Shared>);

struct CheckpointsTest : testing::Test {
  train::CheckpointOptions options() {
    return {.every = 1,
            .keep = 3,
            .directory = temporary / "local",
            .settings = {{"seed", "1"}, {"batch-size", "2"}},
            .log = [this](const train::Notice& notice) {
              (notice.warning ? warned : said).emplace_back(notice.text);
            }};
  }

  /// Runs three epochs of four steps of up to two batches, with checkpoints only in `sink`.
  template <class S>
  train::FitReport run(Outcome& outcome, const Watch& how, S sink, train::CheckpointOptions with) {
    std::stop_source stop;
    Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01},
                    tests::FakeLoader{{1, 2, 3, -1, -2, 4, 5}, 1}, std::move(sink)};
    Watch watch{how};
    watch.outcome = &outcome;
    watch.stop = &stop;
    train::FitOptions fit{
        .epochs = epochs, .max_steps = max_steps, .gradient_accumulation_steps = 2};
    fit.checkpoint = std::move(with);
    fit.stop = stop.get_token();
    const auto report =
        trainer.fit(fit, tests::FakeLoader{{1, -1, 3}, 1}, watch, train::BestModel{best_model});
    outcome.weight = trainer.model().weight();
    outcome.accuracies.clear();
    for (const auto& dev : report.dev) outcome.accuracies.push_back(dev.accuracy);
    outcome.ended = true;
    return report;
  }
  train::FitReport run(Outcome& outcome, const Watch& how, train::CheckpointOptions with) {
    return run(outcome, how, sink::Directory{place()}, std::move(with));
  }

  Outcome undisturbed() {
    Outcome outcome;
    run(outcome, {}, sink::Directory{temporary / "undisturbed"}, options());
    fs::remove_all(temporary / "undisturbed");
    return outcome;
  }

  static void expect_equal(const Outcome& a, const Outcome& b) {
    EXPECT_TRUE(a.ended && b.ended);
    EXPECT_EQ(a.weight, b.weight);
    EXPECT_EQ(a.losses, b.losses);
    EXPECT_EQ(a.accuracies, b.accuracies);
  }

  fs::path place() const { return temporary / "place"; }

  /// Returns the run that a place continues, and its steps.
  std::string current() const {
    sink::Directory store{place()};
    return RunRecord{store}.run();
  }
  Steps steps(const std::string& run) const {
    sink::Directory store{place()};
    return CheckpointFolder{store, run}.steps();
  }
  Steps steps() const { return steps(current()); }

  bool was_said(std::string_view text) const { return is_in(said, text); }
  bool was_warned(std::string_view text) const { return is_in(warned, text); }
  static bool is_in(const std::vector<std::string>& lines, std::string_view text) {
    return std::ranges::any_of(
        lines, [&](const auto& line) { return line.find(text) != std::string::npos; });
  }

  bool best_model = false;
  std::int64_t epochs = 3;
  std::int64_t max_steps = 0;
  const tests::TemporaryDirectory temporary;
  std::vector<std::string> said;
  std::vector<std::string> warned;
};

TEST_F(CheckpointsTest, AKilledRunEndsAsOneThatWasLeftAlone) {
  for (const bool best : {false, true}) {
    best_model = best;
    const Outcome whole = undisturbed();
    ASSERT_EQ(whole.losses.size(), 12U);
    for (std::int64_t every : {1, 3, 5}) {
      fs::remove_all(place());
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
  never_by_itself.every = 1000;
  for (std::int64_t step = 1; step <= 12; ++step) {
    EXPECT_THROW(run(outcome, {.stop_after = step}, never_by_itself), train::Stopped) << step;
    EXPECT_EQ(steps().back(), step);
    for (std::int64_t batch = 1; step % 4 == 0 && batch <= 3; ++batch) {
      Outcome again = outcome;
      EXPECT_THROW(run(again, {.stop_in_evaluation = batch}, never_by_itself), train::Stopped)
          << batch;
    }
  }
  run(outcome, {}, never_by_itself);
  expect_equal(outcome, whole);
}

TEST_F(CheckpointsTest, AStopBeforeTheFirstStepCanBeResumed) {
  const Outcome whole = undisturbed();
  {
    std::stop_source stop;
    stop.request_stop();
    Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01},
                    tests::FakeLoader{{1, 2, 3, -1, -2, 4, 5}, 1}, sink::Directory{place()}};
    train::FitOptions fit{.epochs = 3, .gradient_accumulation_steps = 2, .checkpoint = options()};
    fit.stop = stop.get_token();
    EXPECT_THROW((void)trainer.fit(fit, tests::FakeLoader{{1, -1, 3}, 1}), train::Stopped);
  }
  EXPECT_EQ(steps(), (Steps{0}));
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 3}, options()), train::Stopped);
  EXPECT_TRUE(was_said("Resumed from"));
  run(outcome, {}, options());
  expect_equal(outcome, whole);
}

TEST_F(CheckpointsTest, UsesTheOneBeforeABrokenOne) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 5}, options()), train::Stopped);
  const auto newest = place() / current() / "checkpoint-5/optimizer.safetensors";
  std::string bytes = tests::read_file(newest);
  bytes.back() ^= 1;
  tests::write_file(newest, bytes);
  run(outcome, {}, options());
  expect_equal(outcome, whole);
  EXPECT_TRUE(was_warned("checkpoint-5 is not used"));
}

TEST_F(CheckpointsTest, ContinuesTheOnlyRunWhoseRecordIsMissing) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 5}, options()), train::Stopped);
  const std::string name = current();
  fs::remove(place() / "run.json");
  EXPECT_FALSE(Checkpoints(sink::Directory{place()}, nullptr, options()).saved_settings().empty());
  run(outcome, {}, options());
  EXPECT_TRUE(was_warned("run.json is missing; the run " + name + " has the only checkpoints"));
  EXPECT_TRUE(was_said("Resumed from " + (place() / name / "checkpoint-5").string()));
  expect_equal(outcome, whole);
  EXPECT_EQ(current(), name);
}

TEST_F(CheckpointsTest, RefusesSeveralRunsWhoseRecordIsMissing) {
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 3}, options()), train::Stopped);
  const auto first = current();
  auto anew = options();
  anew.resume = "never";
  EXPECT_THROW(run(outcome, {.stop_after = 2}, anew), train::Stopped);
  const auto second = current();
  fs::remove(place() / "run.json");
  const auto problem = tests::problem_of([&] { run(outcome, {}, options()); });
  EXPECT_NE(problem.find("holds checkpoints of several runs, but no run.json"), std::string::npos)
      << problem;
  for (const auto& name : {first + "/checkpoint-3", second + "/checkpoint-2"}) {
    EXPECT_NE(problem.find("--resume " + (place() / name).string()), std::string::npos) << problem;
  }
  EXPECT_FALSE(fs::exists(place() / "run.json"));
  run(outcome, {}, anew);
  EXPECT_NE(current(), "");
}

/// Moves something away between two steps.
struct Remover {
  fs::path what, to;
  void on(const train::StepEnd& event) const {
    if (event.step == 6) fs::rename(what, to);
  }
};

TEST_F(CheckpointsTest, WritesARecordAgainThatIsRemovedMeanwhile) {
  for (const auto& what : {place() / "run.json", place()}) {
    warned.clear();
    Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01},
                    tests::FakeLoader{{1, 2, 3, -1, -2, 4, 5}, 1}, sink::Directory{place()}};
    train::FitOptions fit{.epochs = 3, .gradient_accumulation_steps = 2};
    fit.checkpoint = options();
    fit.checkpoint.resume = "never";
    trainer.fit(fit, tests::FakeLoader{{1, -1, 3}, 1}, Remover{what, temporary / "gone"});
    fs::remove_all(temporary / "gone");
    EXPECT_TRUE(was_warned("run.json was removed while this run goes on")) << what;
    EXPECT_NE(current(), "");
    EXPECT_EQ(steps().back(), 12);
  }
}

TEST_F(CheckpointsTest, NamesTheSettingsThatDiffer) {
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 2}, options()), train::Stopped);
  const std::string before = current();
  auto other = options();
  other.settings = {{"seed", "2"}, {"dropout", "0.1"}};
  const auto problem = tests::problem_of([&] { run(outcome, {}, other); });
  EXPECT_NE(problem.find("seed (1 there, 2 here)"), std::string::npos) << problem;
  EXPECT_NE(problem.find("dropout (unset there, 0.1 here)"), std::string::npos) << problem;
  EXPECT_NE(problem.find("batch-size (2 there, unset here)"), std::string::npos) << problem;
  EXPECT_EQ(current(), before);
  other.resume = "never";
  run(outcome, {}, other);
  EXPECT_TRUE(outcome.ended);
  EXPECT_EQ(steps(before), (Steps{1, 2}));
}

TEST_F(CheckpointsTest, ComparesTheOptionsOfFitWithoutBeingTold) {
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 2}, options()), train::Stopped);
  best_model = true;
  const auto problem = tests::problem_of([&] { run(outcome, {}, options()); });
  EXPECT_NE(problem.find("best_model (false there, true here)"), std::string::npos) << problem;
}

TEST_F(CheckpointsTest, ResumesWithASettingThatItDoesNotKnow) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 2}, options()), train::Stopped);
  auto later = options();
  later.settings.emplace_back("problem-type", "");
  run(outcome, {}, later);
  expect_equal(outcome, whole);
}

TEST_F(CheckpointsTest, TellsTheSettingsOfTheRunThatItContinues) {
  {
    Checkpoints fresh{sink::Directory{place()}, nullptr, options()};
    EXPECT_EQ(fresh.saved_settings(), train::Pairs{});
    fresh.add_setting("replicas", "4");
    Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01}, tests::FakeLoader{{1, 2, 3}, 1},
                    sink::Discard{}};
    trainer.fit({.epochs = 1}, fresh);
  }
  Checkpoints again{sink::Directory{place()}, nullptr, options()};
  train::Pairs expected = options().settings;
  expected.emplace_back("replicas", "4");
  EXPECT_EQ(again.saved_settings(), expected);
  EXPECT_NE(tests::problem_of([&] { (void)again.restore({.steps = 3}); }).find("replicas (4 there"),
            std::string::npos);
}

TEST_F(CheckpointsTest, RemovesARunFromBothStores) {
  sink::Directory far{temporary / "far"};
  sink::Any remote = sink::Any::refer_to(far);
  Checkpoints checkpointer{sink::Directory{place()}, &remote, options()};
  Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01}, tests::FakeLoader{{1, 2, 3}, 1},
                  sink::Discard{}};
  trainer.fit({.epochs = 1}, checkpointer);
  const std::string run = checkpointer.run().id;
  EXPECT_FALSE(steps(run).empty());
  EXPECT_FALSE((CheckpointFolder{far, run}.steps().empty()));
  const std::vector<std::byte> other(3);
  far.put("other/checkpoint-1/manifest.json", other);
  checkpointer.remove_run();
  EXPECT_FALSE(fs::exists(place() / run));
  EXPECT_FALSE(fs::exists(temporary / "far" / run));
  EXPECT_TRUE(far.get("other/checkpoint-1/manifest.json"));
}

TEST_F(CheckpointsTest, BeginsANewRunFromACheckpointThatIsNamed) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  auto named = options();
  named.every = 1000;
  for (const std::int64_t step : {4, 6}) {
    EXPECT_THROW(run(outcome, {.stop_after = step}, named), train::Stopped);
  }
  const std::string parent = current();
  named.resume = (place() / parent / "checkpoint-4").string();
  run(outcome, {}, named);
  expect_equal(outcome, whole);
  EXPECT_NE(current(), parent);
  EXPECT_EQ(steps(parent), (Steps{4, 6}));
  EXPECT_EQ(steps(), (Steps{4, 12}));
  const Checkpoint last{place() / current() / "checkpoint-12"};
  EXPECT_EQ(last.run().lineage, (std::vector<Ancestor>{{parent, 4, 12}}));
  named.resume = (place() / "checkpoint-400").string();
  EXPECT_THROW(run(outcome, {}, named), Error);
}

TEST_F(CheckpointsTest, ARestartFindsWhereARunFromANamedCheckpointBegan) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  auto named = options();
  named.every = 1000;
  for (const std::int64_t step : {4, 6}) {
    EXPECT_THROW(run(outcome, {.stop_after = step}, named), train::Stopped);
  }
  named.resume = (place() / current() / "checkpoint-4").string();
  EXPECT_THROW(run(outcome, {.die_after = 5}, named), std::runtime_error);
  EXPECT_EQ(steps(), (Steps{4}));
  run(outcome, {}, options());
  expect_equal(outcome, whole);
}

TEST_F(CheckpointsTest, KeepsItsOwnCheckpointsWhereAnotherRunHasNewerOnes) {
  for (const std::int64_t keep : {1, 2}) {
    fs::remove_all(place());
    Outcome outcome;
    auto with = options();
    with.keep = keep;
    EXPECT_THROW(run(outcome, {.stop_after = 11}, with), train::Stopped);
    const std::string first = current();
    const Steps of_first = steps();
    with.resume = "never";
    EXPECT_THROW(run(outcome, {.stop_after = 4}, with), train::Stopped);
    EXPECT_NE(current(), first);
    EXPECT_EQ(steps().back(), 4);
    EXPECT_EQ(std::ssize(steps()), keep);
    EXPECT_EQ(steps(first), of_first);
  }
}

TEST_F(CheckpointsTest, TakesNoCheckpointOfAnotherRunForItsOwn) {
  Outcome outcome;
  EXPECT_THROW(run(outcome, {.stop_after = 6}, options()), train::Stopped);
  const std::string first = tests::read_file(place() / current() / "checkpoint-6/manifest.json");
  auto afresh = options();
  afresh.resume = "never";
  EXPECT_THROW(run(outcome, {.stop_after = 6}, afresh), train::Stopped);
  const Checkpoint second{place() / current() / "checkpoint-6"};
  EXPECT_EQ(second.run().id, current());
  EXPECT_NE(tests::read_file(place() / current() / "checkpoint-6/manifest.json"), first);
}

TEST_F(CheckpointsTest, ARunInsideThePlaceOfAnotherIsLeftAlone) {
  const Outcome whole = undisturbed();
  Outcome inner, outer;
  EXPECT_THROW(run(inner, {.stop_after = 9}, sink::Directory{place() / "lr2"}, options()),
               train::Stopped);
  EXPECT_THROW(run(outer, {.stop_after = 5}, options()), train::Stopped);
  run(outer, {}, options());
  expect_equal(outer, whole);
  run(inner, {}, sink::Directory{place() / "lr2"}, options());
  expect_equal(inner, whole);
}

TEST_F(CheckpointsTest, ARunMayBecomeLonger) {
  epochs = 5;
  const Outcome whole = undisturbed();
  for (const bool by_steps : {false, true}) {
    fs::remove_all(place());
    Outcome outcome;
    epochs = 2;
    max_steps = by_steps ? 6 : 0;  // ends inside an epoch
    run(outcome, {}, options());
    const std::string first = current();
    epochs = 5;
    max_steps = by_steps ? 20 : 0;
    run(outcome, {}, options());
    expect_equal(outcome, whole);
    EXPECT_NE(current(), first);
    EXPECT_TRUE(
        was_said("The run is extended from " + std::string{by_steps ? "6" : "8"} + " to 20 steps"));
    const Checkpoint last{place() / current() / "checkpoint-20"};
    EXPECT_EQ(last.run().lineage.size(), 1U);
    max_steps = 3;
    const auto problem = tests::problem_of([&] { run(outcome, {}, options()); });
    EXPECT_NE(problem.find("may be longer, not shorter"), std::string::npos) << problem;
  }
}

TEST_F(CheckpointsTest, ARunThatHasEndedEndsAgain) {
  const Outcome whole = undisturbed();
  Outcome outcome;
  run(outcome, {}, options());
  Outcome again = outcome;
  run(again, {}, options());
  expect_equal(again, whole);
}

TEST_F(CheckpointsTest, OneProgramAtATimeHasTheDirectory) {
  sink::Directory store{place()};
  Checkpoints first{store, nullptr, options()};
  Checkpoints second{store, nullptr, options()};
  (void)first.restore({});
  const auto problem = tests::problem_of([&] { (void)second.restore({}); });
  EXPECT_NE(problem.find("another process"), std::string::npos) << problem;
}

TEST_F(CheckpointsTest, TheDirectoryCanBeLockedBeforeTheFit) {
  sink::Directory store{place()};
  Checkpoints first{store, nullptr, options()};
  Checkpoints second{store, nullptr, options()};
  first.lock();
  EXPECT_NE(tests::problem_of([&] { second.lock(); }).find("another process"), std::string::npos);
  EXPECT_FALSE(first.restore({}));
}

TEST_F(CheckpointsTest, AFullDiskIsLoggedAndDoesNotEndTheRun) {
  // Replaces the directory by a file, so that nothing can be written.
  struct Spoiler {
    void on(const train::StepEnd& event) const {
      if (event.step != 1) return;
      fs::remove_all(path);
      tests::write_file(path, "");
    }
    fs::path path;
  };
  Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.01}, tests::FakeLoader{{1, 2, 3}, 1},
                  sink::Directory{place()}};
  const auto report = trainer.fit({.epochs = 2, .checkpoint = options()}, Spoiler{place()});
  EXPECT_EQ(report.steps, 6);
  EXPECT_NE(report.unsaved, "");
  EXPECT_TRUE(was_warned("could not be saved, older ones stay"));
}

TEST_F(CheckpointsTest, ACopyWithoutMemoryIsLoggedAndDoesNotEndTheRun) {
  bool full = true;
  const std::function<void(const train::VisitTensors&)> tensors =
      [&](const train::VisitTensors& visit) {
        if (full) throw std::bad_alloc{};
        visit("model", {});
      };
  auto with = options();
  with.directory.clear();
  Checkpoints checkpointer{sink::Directory{place()}, nullptr, with};
  (void)checkpointer.restore({});
  const train::State first{.position = {.step = 1}}, second{.position = {.step = 2}};
  checkpointer.save(train::Moment::step, {first, tensors});
  EXPECT_TRUE(was_warned("checkpoint-1 could not be saved, older ones stay: not enough memory"));
  EXPECT_NE(checkpointer.problem(), "");
  full = false;
  checkpointer.save(train::Moment::step, {second, tensors});
  checkpointer.save(train::Moment::end, {second, tensors});
  EXPECT_EQ(checkpointer.problem(), "");
  EXPECT_EQ(steps(), Steps{2});
}

TEST_F(CheckpointsTest, AnErrorOfTheFitIsThrown) {
  const std::function<void(const train::VisitTensors&)> tensors = [](const train::VisitTensors&) {
    throw Error{"a gradient is not finite"};  // found when the tensors are asked for
  };
  auto with = options();
  with.directory.clear();
  Checkpoints checkpointer{sink::Directory{place()}, nullptr, with};
  (void)checkpointer.restore({});
  const train::State first{.position = {.step = 1}};
  EXPECT_THROW(checkpointer.save(train::Moment::step, {first, tensors}), Error);
}

/// Files with a call that can fail.
struct Failing : Files {
  void sync_directory(const fs::path& path) const {
    if (*syncs_fail && path.filename().string().starts_with("checkpoint-")) {
      throw Error{"cannot be written: Input/output error"};
    }
    Files::sync_directory(path);
  }
  bool remove(const fs::path& path) const {
    if (*removals_fail) throw Error{"cannot be removed: Permission denied"};
    return Files::remove(path);
  }

  std::shared_ptr<bool> syncs_fail = std::make_shared<bool>(false);
  std::shared_ptr<bool> removals_fail = std::make_shared<bool>(false);
};

struct FailingTest : CheckpointsTest {
  using Directory = sink::BasicDirectory<Failing>;

  /// Saves the fit after that step.
  void save(BasicCheckpoints<Directory, sink::Any>& checkpointer, std::int64_t step) {
    const train::State state{.position = {.step = step}};
    const std::function<void(const train::VisitTensors&)> tensors =
        [](const train::VisitTensors& visit) { visit("model", {}); };
    checkpointer.save(train::Moment::end, {state, tensors});
  }

  Failing files;
  Directory store{place(), files};
};

TEST_F(FailingTest, ADirectoryThatCannotBeSyncedKeepsTheOlderCheckpoints) {
  auto with = options();
  with.keep = 1;
  BasicCheckpoints<Directory, sink::Any> checkpointer{store, nullptr, with};
  (void)checkpointer.restore({});
  save(checkpointer, 1);
  *files.syncs_fail = true;
  save(checkpointer, 2);
  EXPECT_NE(checkpointer.problem(), "");
  EXPECT_TRUE(was_warned("checkpoint-2 could not be saved"));
  EXPECT_EQ(steps().front(), 1);
}

TEST_F(FailingTest, AFailedRemovalIsNoFailureToSave) {
  auto with = options();
  with.keep = 1;
  BasicCheckpoints<Directory, sink::Any> checkpointer{store, nullptr, with};
  (void)checkpointer.restore({});
  save(checkpointer, 1);
  *files.removals_fail = true;
  save(checkpointer, 2);
  EXPECT_EQ(checkpointer.problem(), "");
  EXPECT_TRUE(was_warned("old checkpoints could not be removed"));
  EXPECT_FALSE(was_warned("could not be saved"));
}

TEST_F(CheckpointsTest, ARemoteStoreIsAllThatANewMachineNeeds) {
  const Outcome whole = undisturbed();
  for (const bool best : {false, true}) {
    best_model = best;
    Shared store;
    Outcome outcome;
    EXPECT_THROW(run(outcome, {.stop_after = 7}, store, options()), train::Stopped);
    fs::remove_all(temporary / "local");
    run(outcome, {}, store, options());
    EXPECT_EQ(outcome.losses, whole.losses);
    EXPECT_TRUE(was_said("checkpoint-7"));
  }
}

TEST_F(CheckpointsTest, CopiesOfARemoteStoreAreRemovedWhereNobodyAskedForThem) {
  const tests::Environment cache{"XDG_CACHE_HOME", (temporary / "cache").string()};
  Shared store;
  Outcome outcome;
  auto with = options();
  with.directory.clear();
  EXPECT_THROW(run(outcome, {.stop_after = 7}, store, with), train::Stopped);
  const auto count = [&] {
    const fs::recursive_directory_iterator all{temporary / "cache"};
    return std::ranges::count_if(begin(all), end(all), [](const auto& entry) {
      return entry.path().filename() == "manifest.json";
    });
  };
  EXPECT_GT(count(), 0);
  run(outcome, {}, store, with);
  EXPECT_EQ(count(), 0);
}

TEST_F(CheckpointsTest, AStoreOutOfReachIsToldAtTheEndOnly) {
  Shared store;
  store.state->failures = 1'000'000;
  Outcome outcome;
  const auto report = run(outcome, {}, store, options());
  EXPECT_TRUE(outcome.ended);
  EXPECT_NE(report.unsaved.find("cannot be reached"), std::string::npos) << report.unsaved;
  EXPECT_NE(report.unsaved.find((temporary / "local").string()), std::string::npos);
  EXPECT_TRUE(was_warned("is on this machine only so far"));
}

TEST_F(CheckpointsTest, AProgramThatIsReplacedStops) {
  Shared store;
  struct Usurper {
    void on(const train::StepEnd& event) {
      if (event.step != 4) return;
      RunRecord record{store};
      record.claim("run_of_another", "another program");
    }
    Shared& store;
  } usurper{store};
  Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.001},
                  tests::FakeLoader{std::vector<double>(400, 1.0), 1}, store};
  const auto problem =
      tests::problem_of([&] { trainer.fit({.epochs = 1, .checkpoint = options()}, usurper); });
  EXPECT_NE(problem.find("another program has begun or resumed a run here"), std::string::npos)
      << problem;
}

std::ptrdiff_t open_files() {
  return std::distance(fs::directory_iterator{"/proc/self/fd"}, fs::directory_iterator{});
}

TEST_F(CheckpointsTest, KeepsMemoryAndFilesFlat) {
  auto with = options();
  with.resume = "never";
  sink::Directory store{place()};
  Checkpoints checkpoints{store, nullptr, with};
  Trainer trainer{tests::FakeModel{}, tests::FakeSgd{0.001},
                  tests::FakeLoader{std::vector<double>(100, 1.0), 1}, tests::FakeSink{}};
  (void)trainer.fit({.epochs = 1}, checkpoints);
  const auto files = open_files();
  const double memory = peak_memory_mib();
  (void)trainer.fit({.epochs = 3}, checkpoints);
  EXPECT_EQ(open_files(), files);
  EXPECT_LT(peak_memory_mib(), memory + 8);
  EXPECT_LE(steps().size(), 3U);
}

}  // namespace
}  // namespace seqtrain::checkpoint
