#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/files.hpp>
#include <seqtrain/core/json.hpp>

#include "support/program.hpp"
#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

using tests::run_example;
using tests::write_file;

/// A program with --tune on a file of examples.
class Tune : public testing::Test {
 protected:
  void SetUp() override {
    SEQTRAIN_NEEDS_CHECKPOINT();
    std::string lines = "text,label,part\n";
    for (std::size_t i = 0; i < 60; ++i) {
      const bool late = i % 2 == 0;
      lines += (late ? "the train is late " : "a tasty soup ") + std::to_string(i) +
               (late ? ",traffic," : ",food,") + (i % 5 == 0 ? "dev" : "train") + "\n";
    }
    file_ = write_file(directory_ / "examples.csv", lines).string();
  }

  tests::Ended train(const std::string& flags, const std::string& output = "run") const {
    return run_example("mnli", arguments(flags, output));
  }
  std::string arguments(const std::string& flags, const std::string& output = "run") const {
    return "--model " + tests::small_checkpoint().string() +
           " --threads 1 --max-length 16 --train-file " + file_ + " --output-dir " +
           (directory_ / output).string() + " " + flags;
  }

  /// Starts the program, and sends it SIGTERM when that file is there.
  tests::Ended train_until(const std::filesystem::path& file, const std::string& flags) const {
    return tests::run_command(SEQTRAIN_EXAMPLES_DIR "/mnli " + arguments(flags) + " & pid=$!; " +
                              "while kill -0 $pid && [ ! -e " + file.string() +
                              " ]; do sleep 0.005; done; kill -TERM $pid; wait $pid");
  }
  std::filesystem::path run() const { return directory_ / "run"; }

  static json::Document metrics_of(const std::filesystem::path& folder) {
    return json::Document::load(folder / "metrics.json");
  }

  tests::TemporaryDirectory directory_;
  std::string file_;
};

TEST_F(Tune, TrainsTheWinnerWhole) {
  const std::string flags = "--dev-fraction 0.3 --epochs 2 --tune 4";
  auto ended = train(flags);
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("--epochs given, so not searched"), std::string::npos)
      << ended.output;
  const auto tune = json::Document::load(run() / "tune.json");
  const auto trials = tune.root().at("trials").items();
  ASSERT_EQ(trials.size(), 4U);
  std::vector<json::Value> whole;
  for (const auto& trial : trials) {
    const auto runs = trial.at("runs").items();
    ASSERT_GE(runs.size(), 1U);
    const auto folder = run() / runs[0].at("folder").string();
    const auto metrics = metrics_of(folder);
    EXPECT_EQ(metrics.root().at("dev").at("accuracy").number(), runs[0].at("accuracy").number());
    EXPECT_TRUE(std::filesystem::exists(folder / "predictions.jsonl"));
    EXPECT_FALSE(std::filesystem::exists(folder / "model"));
    EXPECT_FALSE(std::filesystem::exists(folder / "model.pth"));
    if (runs.size() == 2) whole.push_back(runs[1]);
  }
  EXPECT_EQ(trials[0].at("flags").at("learning-rate").string(), "0.0001");  // the chosen one
  EXPECT_FALSE(trials[0].at("flags").find("head-learning-rate"));           // of few labels
  EXPECT_EQ(trials[0].at("runs").items().size(), 2U);
  ASSERT_EQ(whole.size(), 2U);

  // The result is the whole run of the best trial, and repeats without --tune.
  const auto winner = tune.root().at("winner");
  const auto best = trials[static_cast<std::size_t>(winner.at("trial").integer() - 1)];
  const auto judged = best.at("runs").items()[1];
  for (const auto& other : whole) {
    EXPECT_GE(judged.at("accuracy").number(), other.at("accuracy").number());
  }
  const auto result = metrics_of(run());
  EXPECT_EQ(result.root().at("dev").at("accuracy").number(), judged.at("accuracy").number());
  EXPECT_EQ(result.root().at("dev").at("loss").number(), judged.at("loss").number());
  EXPECT_EQ(result.root().at("flags").at("tune").string(), "0");
  EXPECT_EQ(result.root().at("tune").at("trials").integer(), 4);
  EXPECT_TRUE(result.root().find("baseline"));
  EXPECT_TRUE(std::filesystem::exists(run() / "model/model.safetensors"));
  EXPECT_NE(tests::read_file(run() / "report.html").find("the best values of 4 trials"),
            std::string::npos);
  ended = train("--config " + (run() / "metrics.json").string(), "again");
  ASSERT_EQ(ended.code, 0) << ended.output;
  const auto again = metrics_of(directory_ / "again");
  EXPECT_EQ(again.root().at("dev").at("loss").number(), judged.at("loss").number());

  // A finished trial is kept; another is trained to the same figures.
  const auto first = tests::read_file(run() / "tune.json");
  const auto kept = std::filesystem::last_write_time(run() / "tune/trial-1-rung-1/metrics.json");
  std::filesystem::remove_all(run() / "tune/trial-2-rung-1");
  for (const char* name : {"metrics.json", "model", "model.pth", "train_log.jsonl"}) {
    std::filesystem::remove_all(run() / name);
  }
  ended = train(flags + " --resume auto");
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("Trial 1 of 4, rung 1 of 2 is finished"), std::string::npos)
      << ended.output;
  EXPECT_EQ(tests::read_file(run() / "tune.json"), first);
  EXPECT_EQ(std::filesystem::last_write_time(run() / "tune/trial-1-rung-1/metrics.json"), kept);
  EXPECT_EQ(metrics_of(run()).root().at("dev").at("loss").number(), judged.at("loss").number());

  ended = train("--dev-fraction 0.3 --epochs 3 --tune 4 --resume auto");
  EXPECT_EQ(ended.code, 2) << ended.output;
  EXPECT_NE(ended.output.find("belongs to a tuning with another epochs"), std::string::npos)
      << ended.output;
}

TEST_F(Tune, TriesAdaptersAndTheHeadAlone) {
  const auto ended = train("--dev-fraction 0.3 --max-steps 4 --tune 12 --batch-size 16");
  ASSERT_EQ(ended.code, 0) << ended.output;
  const auto tune = json::Document::load(run() / "tune.json");
  bool adapted = false, frozen = false;
  for (const auto& trial : tune.root().at("trials").items()) {
    adapted = adapted || trial.at("flags").at("lora-rank").string() == "8";
    frozen = frozen || trial.at("flags").at("freeze-encoder").string() == "true";
    EXPECT_FALSE(trial.at("flags").find("epochs"));
    EXPECT_FALSE(trial.at("flags").find("batch-size"));
  }
  EXPECT_TRUE(adapted);
  EXPECT_TRUE(frozen);
  EXPECT_TRUE(std::filesystem::exists(run() / "model/config.json"));  // whole, whatever won
  EXPECT_FALSE(std::filesystem::exists(run() / "model/adapter_config.json"));
}

TEST_F(Tune, GoesOnAfterATrialWithoutAResult) {
  const auto ended = train(
      "--dev-fraction 0.3 --epochs 1 --tune 2 --learning-rate 1e30 --batch-size 4 --optim sgd "
      "--freeze-encoder false");
  EXPECT_EQ(ended.code, 1) << ended.output;  // so does the run without --tune
  EXPECT_NE(ended.output.find("Trial 2 of 2, rung 1 of 1 has no result: "), std::string::npos)
      << ended.output;
}

TEST_F(Tune, ContinuesInTheMiddleOfATrial) {
  const std::string flags =
      "--dev-fraction 0.3 --epochs 20 --batch-size 4 --freeze-encoder false --tune 2 "
      "--checkpoint-dir " +
      (directory_ / "checkpoints").string();
  auto ended = train_until(run() / "tune/trial-2-rung-1/train_log.jsonl", flags);
  ASSERT_EQ(ended.code, 3) << ended.output;
  EXPECT_NE(ended.output.find("--output-dir " + run().string() + " --resume auto"),
            std::string::npos)
      << ended.output;
  EXPECT_FALSE(std::filesystem::exists(run() / "metrics.json"));
  ended = train(flags);
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("Trial 1 of 2, rung 1 of 1 is finished"), std::string::npos)
      << ended.output;
  EXPECT_NE(ended.output.find("Resumed from "), std::string::npos) << ended.output;

  // Trials leave no checkpoints; the result has its own.
  std::size_t of_trials = 0, of_result = 0;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator{directory_ / "checkpoints"}) {
    if (file.path().filename() != "manifest.json") continue;
    const bool is_of_trial = file.path().string().find("/trial-") != std::string::npos;
    ++(is_of_trial ? of_trials : of_result);
  }
  EXPECT_EQ(of_trials, 0U);
  EXPECT_GT(of_result, 0U);
  const auto stopped = tests::read_file(run() / "tune.json");
  std::filesystem::remove_all(run());
  std::filesystem::remove_all(directory_ / "checkpoints");
  ended = train(flags);
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_EQ(tests::read_file(run() / "tune.json"), stopped);
}

TEST_F(Tune, StopsAtAnyTime) {
  const std::string flags =
      "--dev-fraction 0.3 --max-steps 40 --batch-size 4 --freeze-encoder false --tune 2 --resume "
      "auto";
  // At the beginning of the first trial, and between it and the second one.
  for (const char* file : {"tune/.lock", "tune/trial-1-rung-1/metrics.json"}) {
    const auto ended = train_until(run() / file, flags);
    EXPECT_EQ(ended.code, 3) << file << "\n" << ended.output;
    EXPECT_NE(ended.output.find("To continue this run: "), std::string::npos) << ended.output;
  }
  const auto ended = train(flags);
  EXPECT_EQ(ended.code, 0) << ended.output;
}

TEST_F(Tune, RefusesAPlaceOfAnotherRunBeforeATrial) {
  const std::string flags = "--dev-fraction 0.3 --max-steps 2 --freeze-encoder false --tune 2 ";
  const auto refused = [&](const std::string& more, std::string_view problem) {
    const auto ended = train(flags + more);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_NE(ended.output.find(problem), std::string::npos) << ended.output;
    EXPECT_EQ(ended.output.find("Trial 1"), std::string::npos) << ended.output;
  };
  std::filesystem::create_directories(run() / "checkpoints");
  write_file(run() / "checkpoints/run.json", "{}");
  refused("--resume auto", "already holds a run that is no tuning: checkpoints/run.json");
  write_file(run() / "metrics.json", "{}");
  refused("--resume auto", "already holds a run that is no tuning: metrics.json");
  EXPECT_FALSE(std::filesystem::exists(run() / "tune"));
  {
    const auto held = lock_directory(run() / "tune");
    refused("--overwrite", "another program writes its run here");
  }

  // What the tuning replaces does not stop its winner, nor do trials of an old one stay.
  std::filesystem::remove(run() / "checkpoints/run.json");
  std::filesystem::create_directories(run() / "tune/trial-9-rung-1");
  std::filesystem::create_directories(run() / "tune/notes");
  const auto ended = train(flags + "--overwrite --resume auto");
  ASSERT_EQ(ended.code, 0) << ended.output;
  EXPECT_TRUE(metrics_of(run()).root().find("dev"));
  EXPECT_FALSE(std::filesystem::exists(run() / "tune/trial-9-rung-1"));
  EXPECT_TRUE(std::filesystem::exists(run() / "tune/trial-1-rung-1/metrics.json"));
  EXPECT_TRUE(std::filesystem::exists(run() / "tune/notes"));
}

TEST_F(Tune, RefusesWrongInputBeforeAnythingIsWritten) {
  const auto refused = [&](const std::string& flags, std::string_view problem) {
    const auto ended = train(flags);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_NE(ended.output.find(problem), std::string::npos) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(run()));
  };
  refused("--tune 1", "--tune: must be 0, or 2 to 1000");
  refused("--tune 2 --folds 3", "--folds: does not go with --tune");
  refused("--tune 2 --few-shot", "--few-shot: does not go with --tune");
  refused("--tune 2 --resume checkpoint-9", "--resume: does not go with --tune");
  refused("--tune 2 --dev-file missing.csv", "missing.csv");
  refused(
      "--tune 2 --learning-rate 1e-4 --epochs 1 --batch-size 8 --class-weights auto --lora-rank 2",
      "--tune: has nothing to search");
  std::filesystem::create_directories(run());
  write_file(run() / "tune.json", "{}");
  const auto ended = train("--tune 2");
  EXPECT_EQ(ended.code, 2) << ended.output;
  EXPECT_NE(ended.output.find("already holds a tuning"), std::string::npos) << ended.output;
}

}  // namespace
}  // namespace seqtrain
