#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/experiment/program.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/storage/scheme.hpp>

#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::experiment {
namespace {

using Body = std::function<void(experiment::Run&)>;

/// Starts programs with a tiny run.
class ExperimentProgram : public testing::Test {
 protected:
  void SetUp() override { SEQTRAIN_NEEDS_CHECKPOINT(); }

  /// Returns the exit code of a program, and what it writes to stderr.
  std::pair<int, std::string> start(const Body& body, ProgramOptions options = {.name = "own"}) {
    const auto data = std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../examples/data/nli/dev.jsonl";
    std::vector<std::string> words{"own", "--model=" + tests::small_checkpoint().string()};
    for (const char* const flag : {"--train-file=", "--dev-file="}) {
      words.push_back(flag + data.string());
    }
    for (const char* const flag :
         {"--fraction-of-train-data=0.05", "--max-length=16", "--max-steps=1"}) {
      words.emplace_back(flag);
    }
    words.push_back("--output-dir=" + (directory_ / "run").string());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    testing::internal::CaptureStderr();
    const int code = run(static_cast<int>(arguments.size()), arguments.data(), options, body);
    return {code, testing::internal::GetCapturedStderr()};
  }

  tests::TemporaryDirectory directory_;
};

/// A store that is no `sink::Directory` to a program, which so takes it for another machine's.
struct Shelf : sink::Directory {};

TEST_F(ExperimentProgram, ThatTrainsNothingSaysSo) {
  const auto [code, said] = start([](experiment::Run&) {});
  EXPECT_EQ(code, cli::failed);
  EXPECT_NE(said.find("has not called fit of its run"), std::string::npos) << said;
}

TEST_F(ExperimentProgram, TakesAPartOnce) {
  const auto [code, said] = start([](experiment::Run& run) {
    (void)run.sink();
    (void)run.sink();
  });
  EXPECT_EQ(code, cli::failed);
  EXPECT_NE(said.find("the run's sink was taken before"), std::string::npos) << said;
}

TEST_F(ExperimentProgram, HasFlagsOfItsOwnWithOtherNames) {
  double own = 1;
  const auto [code, said] = start(
      [](experiment::Run&) {},
      {.name = "own", .add_flags = [&](cli::Flags& flags) { flags.add("epochs", own, "own"); }});
  EXPECT_EQ(code, cli::failed);
  EXPECT_NE(said.find("--epochs: is declared twice; give a flag of your own another name"),
            std::string::npos)
      << said;
}

TEST_F(ExperimentProgram, TrainsWithALossOfItsOwn) {
  int batches = 0;
  const auto [code, said] = start([&](experiment::Run& run) {
    auto model = run.model();
    model.model().set_loss([&batches](const at::Tensor& logits, const tensor::Batch&) {
      ++batches;
      return logits.square().sum(1);
    });
    auto optimizer = run.optimizer(model);
    run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
  });
  EXPECT_EQ(code, cli::done) << said;
  EXPECT_GT(batches, 1);
  EXPECT_TRUE(std::filesystem::exists(directory_ / "run/model/model.safetensors"));
}

TEST_F(ExperimentProgram, PutsResultsAndCheckpointsIntoAStorageOfItsOwn) {
  cli::TrainFlags defaults;
  defaults.job_dir = "shelf://results";
  defaults.checkpoint_dir = "shelf://checkpoints";
  defaults.logging_dir = "shelf://events";
  const storage::Scheme shelf{
      .form = "shelf://folder",
      .has = storage::begins_with("shelf://"),
      .open = [this](const std::string& place, const log::Log&) {
        return sink::Any{Shelf{sink::Directory{directory_ / place.substr(8)}}};
      }};
  const auto [code, said] = start(
      [](experiment::Run& run) {
        auto model = run.model();
        auto optimizer = run.optimizer(model);
        run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
      },
      {.name = "own", .defaults = defaults, .schemes = {shelf}});
  EXPECT_EQ(code, cli::done) << said;
  for (const char* const folder : {"results", "checkpoints", "events"}) {
    EXPECT_FALSE(std::filesystem::is_empty(directory_ / folder)) << folder;
  }
}

}  // namespace
}  // namespace seqtrain::experiment
