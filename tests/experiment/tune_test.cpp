#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/flags.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/experiment/several_runs.hpp>
#include <seqtrain/experiment/tune.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/model/out_of_memory.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/train/stopped.hpp>

#include "support/problem_of.hpp"
#include "support/small_checkpoint.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::experiment {
namespace {

using cli::TrainFlags;
using tests::write_file;

/// Tunings whose runs are made up.
class TuningOfMadeRuns : public testing::Test {
 protected:
  void SetUp() override {
    SEQTRAIN_NEEDS_CHECKPOINT();
    labels("a", "b");
  }

  void labels(const std::string& one, const std::string& other) const {
    std::string lines = "text,label\n";
    for (int i = 0; i < 8; ++i) lines += "a text," + (i % 2 == 0 ? one : other) + "\n";
    write_file(file(), lines);
  }

  void tune(const std::vector<std::string>& more, const Tuning::Train& train) {
    std::vector<std::string> words{"test",
                                   "--model=" + tests::small_checkpoint().string(),
                                   "--train-file=" + file().string(),
                                   "--output-dir=" + run().string(),
                                   "--dev-fraction=0.5",
                                   "--epochs=1",
                                   "--tune=2"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<const char*> arguments;
    for (const auto& word : words) arguments.push_back(word.c_str());
    TrainFlags flags;
    cli::Flags parser{"test", "tests the tuning"};
    ASSERT_TRUE(flags.parse(parser, static_cast<int>(arguments.size()), arguments.data()));
    parser_ = &parser;
    std::ostringstream said;
    const storage::Options storages{.log = log::Log{{.out = &said, .errors = &said}}};
    Tuning tuning{flags, parser, "test", false, storages};
    signals_ = &tuning.signals();
    tuning(train);
  }

  /// Writes the figures of a run.
  static void finish(const TrainFlags& flags, const std::string& dev) {
    std::filesystem::create_directories(flags.output_dir);
    write_file(std::filesystem::path{flags.output_dir} / "metrics.json",
               R"({"dev": )" + dev + R"(, "flags": {}})");
  }
  /// Returns a trainer by which the second trial has the second figures.
  static Tuning::Train figures(const std::string& first, const std::string& second) {
    return [=](const TrainFlags& flags) {
      finish(flags, flags.trial && flags.trial->number == 2 ? second : first);
    };
  }

  json::Document result() const { return json::Document::load(run() / "tune.json"); }
  std::int64_t winner() const { return result().root().at("winner").at("trial").integer(); }
  std::filesystem::path file() const { return directory_ / "examples.csv"; }
  std::filesystem::path run() const { return directory_ / "run"; }

  tests::TemporaryDirectory directory_;
  const cli::Flags* parser_ = nullptr;  ///< of the tuning that runs
  SeriesSignals* signals_ = nullptr;    ///< likewise
};

TEST_F(TuningOfMadeRuns, GoOnAfterALackOfMemory) {
  std::size_t whole = 0;
  tune({}, [&](const TrainFlags& flags) {
    finish(flags, R"({"accuracy": 0.5, "loss": 1})");
    if (!flags.trial) ++whole;
    if (flags.trial && flags.trial->number == 2) throw model::OutOfMemory{"out of memory"};
  });
  EXPECT_EQ(whole, 1U);
  EXPECT_EQ(winner(), 1);
  const auto document = result();
  const auto failed = document.root().at("trials").items()[1].at("runs").items()[0];
  EXPECT_EQ(failed.at("problem").string(), "out of memory");
  EXPECT_TRUE(failed.has_null("accuracy"));
  EXPECT_TRUE(std::filesystem::exists(run() / "tune/trial-1-rung-1"));
  EXPECT_FALSE(std::filesystem::exists(run() / "tune/trial-2-rung-1"));
}

TEST_F(TuningOfMadeRuns, RemoveTheCheckpointsOfATrialWithoutAResult) {
  const auto checkpoints = directory_ / "checkpoints";
  tune({"--checkpoint-dir=" + checkpoints.string()}, [&](const TrainFlags& flags) {
    const std::filesystem::path folder{flags.checkpoint_dir};
    std::filesystem::create_directories(folder / "run/checkpoint-4");
    write_file(folder / "run/checkpoint-4/manifest.json", "{}");
    write_file(folder / "run.json", "{}");
    finish(flags, R"({"accuracy": 0.5, "loss": 1})");
    if (flags.trial && flags.trial->number == 2) throw model::OutOfMemory{"out of memory"};
  });
  EXPECT_TRUE(std::filesystem::exists(checkpoints / "trial-1-rung-1/run/checkpoint-4"));
  EXPECT_FALSE(std::filesystem::exists(checkpoints / "trial-2-rung-1/run"));
  EXPECT_FALSE(std::filesystem::exists(checkpoints / "trial-2-rung-1/run.json"));
}

TEST_F(TuningOfMadeRuns, StopBetweenTrialsWhenASignalArrives) {
  std::size_t runs = 0;
  bool stops = true;
  const Tuning::Train train = [&](const TrainFlags& flags) {
    ++runs;
    finish(flags, R"({"accuracy": 0.5, "loss": 1})");
    if (!stops) return;
    std::raise(SIGTERM);  // after the run's own steps, as while the next one is prepared
    for (int i = 0; i < 500 && !signals_->token().stop_requested(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
  };
  EXPECT_THROW(tune({}, train), train::Stopped);
  EXPECT_EQ(runs, 1U);
  EXPECT_EQ(result().root().at("trials").items()[0].at("runs").items().size(), 1U);
  stops = false;
  tune({"--resume=auto"}, train);
  EXPECT_EQ(runs, 3U);  // the second trial and the winner
}

TEST_F(TuningOfMadeRuns, StopARunThatLoadsItsModel) {
  EXPECT_THROW(tune({},
                    [&](const TrainFlags&) {
                      std::raise(SIGTERM);
                      for (int i = 0; i < 500 && !signals_->token().stop_requested(); ++i) {
                        std::this_thread::sleep_for(std::chrono::milliseconds{10});
                      }
                      const RunSignals of_run{signals_, {}};  // is made when the model is loaded
                      FAIL() << "the run goes on";
                    }),
               train::Stopped);
}

TEST_F(TuningOfMadeRuns, GoOnWithoutClassWeightsAndEndAtAnotherWrongInput) {
  const auto fails = [](const std::string& object, std::int64_t trial) {
    return [=](const TrainFlags& flags) {
      finish(flags, R"({"accuracy": 0.5, "loss": 1})");
      if (flags.trial && flags.trial->number == trial) throw InputError{"no", {.object = object}};
    };
  };
  tune({}, fails("class weights", 2));
  EXPECT_EQ(winner(), 1);
  EXPECT_EQ(tests::problem_of([&] { tune({"--overwrite"}, fails("class weights", 1)); }),
            "class weights: no");
  EXPECT_EQ(tests::problem_of([&] { tune({"--overwrite"}, fails("runs/x", 2)); }), "runs/x: no");
}

TEST_F(TuningOfMadeRuns, OfARegressionTakeTheLessCost) {
  labels("0.5", "1.5");
  const std::vector<std::string> flags{"--problem-type=regression", "--overwrite"};
  tune(flags, figures(R"({"loss": 2})", R"({"loss": 1})"));
  EXPECT_EQ(winner(), 2);
  tune(flags, figures(R"({"loss": 1})", R"({"loss": 2})"));
  EXPECT_EQ(winner(), 1);
  EXPECT_EQ(result().root().at("metric").string(), "loss");

  // A model of the program's own may tell no losses.
  const auto without = [](const std::string& error) {
    return R"({"loss": null, "metrics": {"mean_squared_error": )" + error + "}}";
  };
  tune(flags, figures(without("2"), without("1")));
  EXPECT_EQ(winner(), 2);
  EXPECT_EQ(result().root().at("metric").string(), "mean_squared_error");
}

TEST_F(TuningOfMadeRuns, AreDecidedByAnyMetricOfTheProgram) {
  const auto dev = [](const std::string& figure) {
    return R"({"accuracy": 0.5, "loss": 1, "metrics": {"rare_f1": )" + figure + "}}";
  };
  tune({"--metric-for-best-model=rare_f1"}, figures(dev("0.25"), dev("0.5")));
  EXPECT_EQ(winner(), 2);
  const auto problem = tests::problem_of([&] {
    tune({"--metric-for-best-model=odd_f1", "--overwrite"}, figures(dev("1"), dev("1")));
  });
  EXPECT_NE(problem.find("dev: has no metric 'odd_f1'"), std::string::npos) << problem;
}

TEST_F(TuningOfMadeRuns, DoNotSearchClassWeightsByTheLoss) {
  const auto train = figures(R"({"accuracy": 0.5, "loss": 1})", R"({"accuracy": 0.5, "loss": 1})");
  const auto searches = [&](const std::string& metric) {
    tune({"--overwrite", "--metric-for-best-model=" + metric}, train);
    const auto document = result();
    return document.root().at("winner").at("flags").find("class-weights").has_value();
  };
  EXPECT_TRUE(searches("accuracy"));
  EXPECT_FALSE(searches("loss"));
}

TEST_F(TuningOfMadeRuns, AreNotContinuedWithAnotherTeacher) {
  const auto train = figures(R"({"accuracy": 0.5, "loss": 1})", R"({"accuracy": 0.5, "loss": 1})");
  const auto teacher = write_file(directory_ / "teacher.jsonl", "{}\n");
  const std::vector<std::string> flags{"--teacher=" + teacher.string(), "--resume=auto"};
  tune(flags, train);
  EXPECT_NO_THROW(tune(flags, train));
  write_file(teacher, "{\"other\": 1}\n");
  const auto problem = tests::problem_of([&] { tune(flags, train); });
  EXPECT_NE(problem.find("belongs to a tuning with another teacher"), std::string::npos) << problem;
}

TEST_F(TuningOfMadeRuns, AreContinuedIfAFlagWithoutAValueWasNotThereYet) {
  const auto train = figures(R"({"accuracy": 0.5, "loss": 1})", R"({"accuracy": 0.5, "loss": 1})");
  tune({"--resume=auto"}, train);
  const auto file = run() / "tune.json";
  const std::string setting = R"("head-learning-rate": "nan",)";
  auto text = tests::read_file(file);
  const auto place = text.find(setting);
  ASSERT_NE(place, std::string::npos) << text;
  write_file(file, text.erase(place, setting.size()));
  EXPECT_NO_THROW(tune({"--resume=auto"}, train));
}

TEST_F(TuningOfMadeRuns, LeaveOutOfATrialWhatOnlyAModelHas) {
  const auto test = "--test-file=" + file().string();
  std::vector<std::string> trials, whole;
  tune({test, "--calibrate=yes", "--job-dir=" + (directory_ / "job").string()},
       [&](const TrainFlags& flags) {
         (flags.trial ? trials : whole).push_back(flags.test_file + flags.job_dir);
         const auto command = parser_->command();  // the page of the run shows it
         for (const char* flag : {" --test-file ", " --calibrate yes", " --job-dir "}) {
           EXPECT_EQ(command.find(flag) == command.npos, flags.trial.has_value()) << command;
         }
         finish(flags, R"({"accuracy": 0.5, "loss": 1})");
       });
  EXPECT_EQ(trials, (std::vector<std::string>{"", ""}));
  EXPECT_EQ(whole, (std::vector<std::string>{file().string() + (directory_ / "job").string()}));
}

}  // namespace
}  // namespace seqtrain::experiment
