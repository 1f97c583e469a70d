#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/run.hpp>
#include <seqtrain/experiment/program.hpp>
#include <seqtrain/model/loss_alone.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/storage/scheme.hpp>
#include <seqtrain/tensor/operators.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/weights/tensor_view.hpp>

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
    for (const char* const flag : {"--fraction-of-train-data=0.05", "--max-length=16"}) {
      words.emplace_back(flag);
    }
    words.insert(words.end(), flags_.begin(), flags_.end());
    words.push_back("--output-dir=" + (directory_ / "run").string());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    testing::internal::CaptureStderr();
    const int code = run(static_cast<int>(arguments.size()), arguments.data(), options, body);
    return {code, testing::internal::GetCapturedStderr()};
  }

  std::vector<std::string> flags_{"--max-steps=1"};
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

/// The squared distance of the states of a pair's two texts.
struct Distance {
  at::Tensor operator()(const at::Tensor& states, const tensor::Batch&) const {
    const at::Tensor pairs = states.view({-1, 2, states.size(1)});
    return (pairs.select(1, 0) - pairs.select(1, 1)).square().mean(1).repeat_interleave(2);
  }
};

ProgramOptions of_pairs(cli::TrainFlags defaults = {}) {
  return {.name = "own",
          .defaults = std::move(defaults),
          .head = model::no_head(),
          .scored_by_loss = true,
          .texts_apart = true};
}

void train_on_pairs(experiment::Run& run) {
  auto model = run.replicate(model::LossAlone{run.take_model(), Distance{}});
  auto optimizer = run.optimizer(model);
  run.fit(Trainer{std::move(model), std::move(optimizer), run.batches(), run.sink()});
}

TEST_F(ExperimentProgram, ScoredByItsLossLeavesNoPredictions) {
  cli::TrainFlags defaults;
  defaults.job_dir = (directory_ / "job").string();
  std::size_t rows = 0, again = 0;
  const auto [code, said] = start(
      [&](experiment::Run& run) {
        rows = run.train_set().size();
        again = run.encode(run.flags().dev_file).size();
        train_on_pairs(run);
      },
      of_pairs(std::move(defaults)));
  EXPECT_EQ(code, cli::done) << said;
  EXPECT_EQ(rows % 2, 0U);
  EXPECT_GT(again, rows);
  EXPECT_EQ(again % 2, 0U);
  for (const char* const word : {"accuracy", "Label texts", "f1"}) {
    EXPECT_EQ(said.find(word), std::string::npos) << said;
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run/predictions.jsonl"));
  for (const char* const file : {"report.html", "metrics.json", "model/README.md"}) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / "run" / file)) << file;
  }
  EXPECT_FALSE(std::filesystem::is_empty(directory_ / "job"));
}

/// An optimizer that leaves everything as it is.
struct Idle {
  using parameter_type = tensor::Parameter;
  void step(std::span<const tensor::Parameter>, const optim::Step&) {}
  [[nodiscard]] static double learning_rate() { return 1; }
  struct Nothing {
    [[nodiscard]] static std::span<const weights::TensorView> views() { return {}; }
  };
  [[nodiscard]] static Nothing state() { return {}; }
  void load_state(std::span<const weights::TensorView>, std::span<const tensor::Parameter>) {}
};

TEST_F(ExperimentProgram, WarnsOfAFlagOfAnOptimizerThatItReplaces) {
  flags_.emplace_back("--optim=lion");
  testing::internal::CaptureStdout();
  const auto [code, errors] = start([](experiment::Run& run) {
    run.fit(Trainer{run.model(), Idle{}, run.batches(), run.sink()});
  });
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, cli::done) << errors;
  EXPECT_NE(said.find("--optim: the program asked its run for no optimizer"), std::string::npos)
      << said;
}

TEST_F(ExperimentProgram, ResumesWithTheContentsOfTheFilesThatItEncodes) {
  const auto further = directory_ / "further.jsonl";
  const auto train = [&](const char* text, const std::vector<std::string>& flags) {
    tests::write_file(further, std::string{R"({"gold_label": "neutral", "sentence1": ")"} + text +
                                   R"(", "sentence2": "b"})" + "\n");
    flags_ = flags;
    return start([&](experiment::Run& run) {
      (void)run.encode(further.string());
      run.fit(run.trainer());
    });
  };
  const auto [code, said] = train("a", {"--max-steps=1", "--keep-last-checkpoint"});
  EXPECT_EQ(code, cli::done) << said;
  const std::vector<std::string> longer{"--max-steps=2", "--resume=auto"};
  const auto [other_code, other_said] = train("c", longer);
  EXPECT_EQ(other_code, cli::wrong_input);
  EXPECT_NE(other_said.find("encoded file 1"), std::string::npos) << other_said;
  const auto [same_code, same_said] = train("a", longer);
  EXPECT_EQ(same_code, cli::done) << same_said;
}

TEST_F(ExperimentProgram, RefusesAnEmptyNameOfAFile) {
  const auto [code, said] = start([](experiment::Run& run) { (void)run.encode(""); }, {});
  EXPECT_EQ(code, cli::wrong_input);
  EXPECT_NE(said.find("run.encode is given no file"), std::string::npos) << said;
}

TEST_F(ExperimentProgram, ScoredByItsLossHasNoAccuracy) {
  cli::TrainFlags defaults;
  defaults.metric_for_best_model = "accuracy";
  const auto [code, said] = start(train_on_pairs, of_pairs(std::move(defaults)));
  EXPECT_EQ(code, cli::wrong_input);
  EXPECT_NE(said.find("--metric-for-best-model: must be loss: the model of this program is scored "
                      "by its loss alone"),
            std::string::npos)
      << said;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

TEST_F(ExperimentProgram, WithoutAHeadNeedsAnEncoderThatLearns) {
  cli::TrainFlags defaults;
  defaults.freeze_encoder = true;
  const auto [code, said] = start(train_on_pairs, of_pairs(std::move(defaults)));
  EXPECT_EQ(code, cli::wrong_input);
  EXPECT_NE(said.find("--freeze-encoder: leaves nothing to train: the model has no head"),
            std::string::npos)
      << said;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

TEST_F(ExperimentProgram, SaysHowItsModelIsScored) {
  auto options = of_pairs();
  options.scored_by_loss = false;
  const auto [code, said] = start(train_on_pairs, options);
  EXPECT_EQ(code, cli::failed);
  EXPECT_NE(said.find("the model has no logits"), std::string::npos) << said;
  const auto other = start([](experiment::Run& run) { run.fit(run.trainer()); }, of_pairs());
  EXPECT_NE(other.second.find("scored_by_loss, but its model has logits"), std::string::npos)
      << other.second;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

TEST_F(ExperimentProgram, FindsAMetricThatIsNotThereBeforeItWrites) {
  cli::TrainFlags defaults;
  defaults.metric_for_best_model = "fluency";
  const auto [code, said] = start([](experiment::Run& run) { run.fit(run.trainer()); },
                                  {.name = "own", .defaults = std::move(defaults)});
  EXPECT_EQ(code, cli::wrong_input);
  EXPECT_NE(said.find("there is no metric 'fluency'"), std::string::npos) << said;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "run"));
}

}  // namespace
}  // namespace seqtrain::experiment
