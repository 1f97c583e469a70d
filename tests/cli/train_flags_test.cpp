#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/train_flags.hpp>

#include "support/environment.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::cli {
namespace {

std::set<std::string> names(const train::Pairs& values) {
  std::set<std::string> result;
  for (const auto& [name, value] : values) result.insert(name);
  return result;
}

/// Outside a cloud job, whatever the machine is.
struct TrainFlagsTest : testing::Test {
  const tests::Environment trial{"CLOUD_ML_TRIAL_ID", {}};
  const tests::Environment model{"AIP_MODEL_DIR", {}};
  const tests::Environment checkpoints{"AIP_CHECKPOINT_DIR", {}};
  const tests::Environment tensorboard{"AIP_TENSORBOARD_LOG_DIR", {}};

  static TrainFlags parsed(std::vector<const char*> arguments) {
    TrainFlags flags;
    Flags parser{"program", "does something"};
    arguments.insert(arguments.begin(), "program");
    EXPECT_TRUE(flags.parse(parser, static_cast<int>(arguments.size()), arguments.data()));
    return flags;
  }
};

TEST_F(TrainFlagsTest, DetermineResultsUnlessTheyAreListedHere) {
  TrainFlags flags;
  Flags parser{"program", "does something"};
  const std::array<const char*, 1> arguments{"program"};
  ASSERT_TRUE(flags.parse(parser, 1, arguments.data()));
  const std::set<std::string> others{
      // run_settings tells what these hold
      "model", "train-file", "dev-file", "precision",
      // a resumed run may be longer
      "epochs", "max-steps",
      // where a run computes, and what it leaves where
      "test-file", "device", "threads", "dataloader-num-workers", "log-every", "output-dir",
      "overwrite", "model-name", "job-dir", "checkpoint-dir", "checkpoint-every",
      "checkpoint-minutes", "keep-checkpoints", "resume", "grace-seconds", "logging-dir", "hp-tune",
      // what follows from the trained model
      "calibrate", "report-texts",
      // how many processes share the work; the program adds the parts of a step
      "replicas", "reduction", "dist-interface"};
  auto expected = names(parser.values());
  for (const auto& name : others) EXPECT_EQ(expected.erase(name), 1U) << name << " is no flag";
  EXPECT_EQ(names(parser.determining_values()), expected);
}

TEST_F(TrainFlagsTest, ShareTheCoresAmongTheProcessesOfAMachine) {
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const tests::Environment many{"LOCAL_WORLD_SIZE", "1000000"};
  EXPECT_EQ(TrainFlags{}.threads, 1);
  const tests::Environment one{"LOCAL_WORLD_SIZE", "1"};
  const tests::Environment other{"OMP_NUM_THREADS", "1"};
  EXPECT_EQ(TrainFlags{}.threads, cores);
}

TEST_F(TrainFlagsTest, MakeStepsOfAllReplicas) {
  TrainFlags flags;
  flags.gradient_accumulation_steps = 3;
  EXPECT_EQ(flags.fit_options().gradient_accumulation_steps, 3);
  EXPECT_EQ(flags.fit_options(4).gradient_accumulation_steps, 12);
  EXPECT_EQ(flags.train_batches().plan.batches_together, 1u);
  EXPECT_EQ(
      flags.train_batches({.replicas = 4, .accumulation = 3, .last = 4}).plan.batches_together,
      12u);
}

TEST_F(TrainFlagsTest, TakeAMetricForTheBestModel) {
  TrainFlags flags;
  EXPECT_EQ(flags.metric_for_best_model, "");
  EXPECT_EQ(flags.greater_is_better, "");
  Flags parser{"program", "does something"};
  const std::array<const char*, 5> arguments{"program", "--metric-for-best-model", "macro_f1",
                                             "--greater-is-better", "false"};
  ASSERT_TRUE(flags.parse(parser, 5, arguments.data()));
  EXPECT_EQ(flags.metric_for_best_model, "macro_f1");
  EXPECT_EQ(flags.greater_is_better, "false");
  flags.greater_is_better = "yes";
  EXPECT_EQ(tests::problem_of([&] { flags.validate(); }),
            "--greater-is-better: must be true or false");
}

TEST_F(TrainFlagsTest, TakeTheNamesThatOthersGiveTheEpochs) {
  EXPECT_EQ(parsed({"--num-epochs", "7"}).epochs, 7);
  EXPECT_EQ(parsed({"--num_train_epochs=7"}).epochs, 7);
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--epochs=1", "--num-epochs=1"});
            }),
            "--num-epochs: is the same flag as --epochs, which is given too");
}

TEST_F(TrainFlagsTest, TakeWhatAServiceThatTunesPasses) {
  EXPECT_FALSE(parsed({}).reports_trial());
  EXPECT_FALSE(parsed({"--hp-tune=n"}).reports_trial());
  const auto flags = parsed({"--hp-tune=y", "--learning-rate=3e-5", "--weight_decay=0.01"});
  EXPECT_TRUE(flags.reports_trial());
  EXPECT_EQ(flags.learning_rate, 3e-5);
  EXPECT_EQ(flags.weight_decay, 0.01);
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--hp-tune", "yes"});
            }),
            "--hp-tune: must be y or n");
}

TEST_F(TrainFlagsTest, NameNoPlacesOutsideAJob) {
  const auto flags = parsed({});
  EXPECT_EQ(flags.checkpoint_dir, "");
  EXPECT_EQ(flags.resume, "never");
  EXPECT_EQ(flags.logging_dir, "");
  EXPECT_EQ(parsed({"--job-dir", "gs://b/runs"}).job_dir, "gs://b/runs");
}

TEST_F(TrainFlagsTest, ContinueAJobsRunByThemselves) {
  const tests::Environment job{"AIP_CHECKPOINT_DIR", "gs://b/job/checkpoints/"};
  EXPECT_EQ(parsed({}).checkpoint_dir, "gs://b/job/checkpoints/");
  EXPECT_EQ(parsed({}).resume, "auto");
  EXPECT_EQ(parsed({"--resume", "never"}).resume, "never");
  EXPECT_EQ(parsed({"--checkpoint-dir", "here"}).checkpoint_dir, "here");
}

TEST_F(TrainFlagsTest, TakeAJobsPlaceForTensorBoard) {
  const tests::Environment job{"AIP_TENSORBOARD_LOG_DIR", "gs://b/job/logs/"};
  EXPECT_EQ(parsed({}).logging_dir, "gs://b/job/logs/");
  EXPECT_EQ(parsed({"--logging-dir", "here"}).logging_dir, "here");
}

TEST_F(TrainFlagsTest, GiveEachTrialPlacesOfItsOwn) {
  const tests::Environment id{"CLOUD_ML_TRIAL_ID", "3"};
  const tests::Environment of_trial{"AIP_CHECKPOINT_DIR", "gs://b/job/3/checkpoints/"};
  const auto flags =
      parsed({"--job-dir", "gs://b/runs/", "--output-dir", "out", "--logging-dir", "gs://b/logs"});
  EXPECT_EQ(flags.job_dir, "gs://b/runs/3");
  EXPECT_EQ(flags.output_dir, "out/3");
  EXPECT_EQ(flags.logging_dir, "gs://b/logs/3");
  EXPECT_EQ(flags.checkpoint_dir, "gs://b/job/3/checkpoints/");
  EXPECT_EQ(parsed({"--checkpoint-dir", "gs://b/saved"}).checkpoint_dir, "gs://b/saved/3");
  EXPECT_EQ(parsed({}).output_dir, "");
}

}  // namespace
}  // namespace seqtrain::cli
