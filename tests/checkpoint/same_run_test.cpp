#include <string>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/same_run.hpp>
#include <seqtrain/sink/directory.hpp>

#include "support/problem_of.hpp"
#include "support/snapshots.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::checkpoint {
namespace {

struct SameRunTest : testing::Test {
  /// Returns why the run cannot be continued, or an empty string.
  std::string problem(const RunDescription& there) const {
    const tests::TemporaryDirectory temporary;
    sink::Directory store{temporary.path()};
    tests::write_snapshot(store, "checkpoint-4", tests::some_snapshot(4), there);
    const Checkpoint checkpoint{temporary / "checkpoint-4"};
    try {
      check_same_run(checkpoint, plan, options);
      return {};
    } catch (const InputError& error) {
      return error.what();
    }
  }

  RunDescription run{
      .id = "run_1", .steps = 12, .settings = {{"seed", "1"}}, .fit = {{"examples", "100"}}};
  train::FitPlan plan{.steps = 12, .settings = {{"examples", "100"}}};
  train::CheckpointOptions options{.settings = {{"seed", "1"}}};
};

TEST_F(SameRunTest, ContinuesARunWithTheSameSettings) {
  EXPECT_EQ(problem(run), "");
}

TEST_F(SameRunTest, NamesEachSettingThatDiffers) {
  options.settings = {{"seed", "2"}, {"dropout", "0.1"}};
  run.settings.emplace_back("batch-size", "32");
  plan.settings = {{"examples", "90"}};
  const auto said = problem(run);
  for (const char* part :
       {"checkpoint-4", "seed (1 there, 2 here)", "dropout (unset there, 0.1 here)",
        "batch-size (32 there, unset here)", "examples (100 there, 90 here)"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in " << said;
  }
}

TEST_F(SameRunTest, AnEmptyValueCountsAsNone) {
  options.settings.emplace_back("problem-type", "");
  run.settings.emplace_back("word-lists", "");
  EXPECT_EQ(problem(run), "");
}

TEST_F(SameRunTest, VersionsAreForPeople) {
  options.versions = {{"seqtrain", "2"}};
  run.versions = {{"seqtrain", "1"}};
  EXPECT_EQ(problem(run), "");
}

TEST_F(SameRunTest, ARunMayBecomeLongerNotShorter) {
  plan.steps = 13;
  EXPECT_EQ(problem(run), "");
  plan.steps = 11;
  EXPECT_NE(problem(run).find("belongs to a run of 12 steps, this one has 11"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::checkpoint
