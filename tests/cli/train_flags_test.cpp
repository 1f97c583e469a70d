#include <array>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/cli/train_flags.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::cli {
namespace {

std::set<std::string> names(const train::Pairs& values) {
  std::set<std::string> result;
  for (const auto& [name, value] : values) result.insert(name);
  return result;
}

TEST(TrainFlags, DetermineResultsUnlessTheyAreListedHere) {
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
      "checkpoint-minutes", "keep-checkpoints", "resume", "grace-seconds"};
  auto expected = names(parser.values());
  for (const auto& name : others) EXPECT_EQ(expected.erase(name), 1U) << name << " is no flag";
  EXPECT_EQ(names(parser.determining_values()), expected);
}

TEST(TrainFlags, TakeAMetricForTheBestModel) {
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

}  // namespace
}  // namespace seqtrain::cli
