#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/json_writer.hpp>

#include "support/environment.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"
#include "support/temporary_file.hpp"

namespace seqtrain::cli {
namespace {

std::set<std::string> names(const train::Pairs& values) {
  std::set<std::string> result;
  for (const auto& [name, value] : values) result.insert(name);
  return result;
}

/// Parses flags outside a cloud job, whatever the environment of the machine.
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
      // run_settings has fingerprints of these in their place
      "model", "teacher", "train-file", "dev-file", "dev-fraction", "precision",
      // files replace these before the run
      "dataset", "train-split", "dev-split", "test-split",
      // a resumed run may be longer
      "epochs", "max-steps",
      // each of its runs has the values that it chooses
      "tune",
      // the machine, and the places of the results
      "test-file", "device", "deterministic", "threads", "dataloader-num-workers", "log-every",
      "output-dir", "overwrite", "model-name", "job-dir", "checkpoint-dir", "checkpoint-every",
      "checkpoint-minutes", "keep-checkpoints", "keep-last-checkpoint", "resume", "grace-seconds",
      "logging-dir", "hp-tune", "push-to-hub", "hub-private-repo",
      // these use the trained model
      "calibrate", "report-texts", "merge-adapter", "no-baseline",
      // the number of processes; the program adds the parts of a step
      "replicas", "reduction", "dist-interface"};
  auto expected = names(parser.values());
  // These have no values.
  expected.insert({"dropout", "epochs", "focal-gamma", "head-learning-rate", "huber-delta",
                   "learning-rate", "momentum"});
  for (const auto& name : others) EXPECT_EQ(expected.erase(name), 1U) << name << " is no flag";
  EXPECT_EQ(names(parser.determining_values()), expected);
}

TEST_F(TrainFlagsTest, TakeTheDefaultModelFromTheHubUnlessItsDirectoryIsHere) {
  const tests::TemporaryDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  EXPECT_EQ(parsed({}).model, "sentence-transformers/all-MiniLM-L6-v2");
  EXPECT_EQ(parsed({"--model=other"}).model, "other");
  std::filesystem::create_directories("checkpoints/all-MiniLM-L6-v2");
  EXPECT_EQ(parsed({}).model, "checkpoints/all-MiniLM-L6-v2");
  std::filesystem::current_path(before);
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
  EXPECT_EQ(flags.greater_is_better, std::nullopt);
  Flags parser{"program", "does something"};
  const std::array<const char*, 5> arguments{"program", "--metric-for-best-model", "macro_f1",
                                             "--greater-is-better", "false"};
  ASSERT_TRUE(flags.parse(parser, 5, arguments.data()));
  EXPECT_EQ(flags.metric_for_best_model, "macro_f1");
  EXPECT_EQ(flags.greater_is_better, false);
  EXPECT_EQ(flags.fit_options().greater_is_better, false);
  EXPECT_EQ(parsed({"--greater-is-better", "true"}).greater_is_better, true);
  EXPECT_EQ(parsed({"--greater-is-better", ""}).greater_is_better, std::nullopt);
}

TEST_F(TrainFlagsTest, TakeTheNamesThatOthersGiveTheEpochs) {
  EXPECT_EQ(parsed({"--num-epochs", "7"}).epochs, 7);
  EXPECT_EQ(parsed({"--num_train_epochs=7"}).epochs, 7);
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--epochs=1", "--num-epochs=2"});
            }),
            "--num-epochs: has another value than --epochs, which is the same flag");
}

TEST_F(TrainFlagsTest, TakeTheNameOfARepositoryToPushTo) {
  EXPECT_EQ(parsed({"--push_to_hub", "org/m"}).push_to_hub, "org/m");
  EXPECT_TRUE(parsed({"--push-to-hub=org/m", "--hub-private-repo"}).hub_private_repo);
  for (const char* wrong :
       {"m", "true", "org/m@v1", "org/", "../m", "a/b/c", "https://hub/org/m"}) {
    EXPECT_EQ(tests::problem_of([&] {
                (void)parsed({"--push-to-hub", wrong});
              }),
              "--push-to-hub: takes the name of a repository on the hub, org/name")
        << wrong;
  }
  EXPECT_EQ(tests::problem_of([] { (void)parsed({"--hub-private-repo"}); }),
            "--hub-private-repo: needs --push-to-hub org/name");
}

TEST_F(TrainFlagsTest, TakeALineOfHuggingFaces) {
  const auto flags = parsed({"--model_name_or_path", "m", "--train_file", "t", "--validation_file",
                             "d", "--do_train", "--do_eval", "true", "--max_seq_length", "128",
                             "--per_device_train_batch_size", "32", "--learning_rate", "2e-5",
                             "--num_train_epochs", "3", "--output_dir", "out"});
  EXPECT_EQ(flags.model, "m");
  EXPECT_EQ(flags.train_file, "t");
  EXPECT_EQ(flags.dev_file, "d");
  EXPECT_EQ(flags.max_length, 128);
  EXPECT_EQ(flags.batch_size, 32);
  EXPECT_EQ(flags.epochs, 3);
  EXPECT_EQ(flags.output_dir, "out");
}

TEST_F(TrainFlagsTest, HoldDevExamplesOutOfTheTrainingFile) {
  const auto flags = parsed({"--train-file", "t", "--dev-fraction", "0.1"});
  EXPECT_EQ(flags.dev_fraction, 0.1);
  EXPECT_EQ(flags.dev_file, "");
  EXPECT_EQ(flags.test_file, "");
  EXPECT_EQ(parsed({"--dev-fraction", "0.1", "--dev-file", "", "--test-file", "x"}).test_file, "x");
  EXPECT_EQ(parsed({"--dev-file", "d"}).test_file, "");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--dev-fraction", "0.1", "--dev-file", "d"});
            }),
            "--dev-fraction: does not go with --dev-file: it takes the dev examples from the "
            "training file");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--dev-fraction", "1"});
            }),
            "--dev-fraction: must be at least 0 and below 1");
}

TEST_F(TrainFlagsTest, NameTheColumnsOfFilesWithoutAHeader) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(parsed({"--columns", "-,-,text,label,..."}).read_options().columns,
            (Names{"-", "-", "text", "label", "..."}));
  EXPECT_EQ(parsed({"--columns=-,text"}).read_options().columns, (Names{"-", "text"}));
  EXPECT_EQ(parsed({}).read_options().columns, Names{});
  const auto problem = [](const char* columns) {
    return tests::problem_of([&] { (void)parsed({"--columns", columns}); });
  };
  EXPECT_EQ(problem("text,,label"), "--columns: has an empty name: - is a column to skip");
  EXPECT_EQ(problem("text,text"), "--columns: names 'text' twice");
  EXPECT_EQ(problem("text,...,label"), "--columns: has ... before its end");
  EXPECT_EQ(problem("..."), "--columns: names no column");
}

TEST_F(TrainFlagsTest, HoldATenthOutOfAFileOfTheUsersOwn) {
  for (const auto& arguments : {std::vector<const char*>{"--train-file", "mine.csv"},
                                {"--train-file", "mine.csv", "--dev-file", ""},
                                {"--train-file", "mine.csv", "--dev-fraction", "0"}}) {
    const auto flags = parsed(arguments);
    EXPECT_TRUE(flags.holds_out_by_default);
    EXPECT_EQ(flags.dev_fraction, 0.1);
    EXPECT_EQ(flags.dev_file, "");
  }
  const TrainFlags usual;
  for (const auto& arguments :
       {std::vector<const char*>{}, {"--train-file", usual.train_file.c_str()}}) {
    EXPECT_EQ(parsed(arguments).dev_file, usual.dev_file);
    EXPECT_EQ(parsed(arguments).dev_fraction, 0);
  }
  EXPECT_EQ(parsed({"--train-file", "t", "--dev-file", "d"}).dev_fraction, 0);
  const auto given = parsed({"--train-file", "t", "--dev-fraction", "0.3"});
  EXPECT_EQ(given.dev_fraction, 0.3);
  EXPECT_FALSE(given.holds_out_by_default);
  EXPECT_EQ(parsed({"--dataset", "org/name"}).dev_fraction, 0);
}

TEST_F(TrainFlagsTest, NameTheFlagOfAWrongValue) {
  const auto problem = [](const char* name, const char* value) {
    return tests::problem_of([&] { (void)parsed({name, value}); });
  };
  EXPECT_EQ(problem("--epochs", "0"), "--epochs: must be at least 1");
  EXPECT_EQ(problem("--lr-scheduler-type", "lineer"),
            "--lr-scheduler-type: is unknown: use constant, linear, cosine, slanted_triangular or "
            "one_cycle");
  EXPECT_EQ(problem("--order", "random"), "--order: is unknown: use bucket, shuffle or file");
  EXPECT_EQ(problem("--order", ""), "--order: is unknown: use bucket, shuffle or file");
  EXPECT_EQ(problem("--long-texts", "middle"),
            "--long-texts: must be truncate, tail, head-tail or windows");
  EXPECT_EQ(problem("--stride", "-1"), "--stride: must not be negative");
  EXPECT_EQ(problem("--stride", "8"), "--stride: needs --long-texts windows");
  for (const char* threads : {"0", "-1", "1025", "100000", "5000000000"}) {
    EXPECT_EQ(problem("--threads", threads).find("--threads: must be from 1 to "), 0U) << threads;
  }
  EXPECT_EQ(problem("--dataloader-num-workers", "100000")
                .find("--dataloader-num-workers: must be "
                      "from 0 to "),
            0U);
  EXPECT_EQ(problem("--optim", "lino"),
            "--optim: is unknown: use adam, adamw, adamw-8bit, lion, adafactor, sgd, muon or "
            "adamw_8bit");
  EXPECT_EQ(problem("--momentum", "0.9"), "--momentum: is for --optim sgd and muon");
  EXPECT_EQ(problem("--on-nonfinite", "go"), "--on-nonfinite: is unknown: use stop or skip");
  EXPECT_EQ(problem("--report-texts", "no"), "--report-texts: must be true or false");
  EXPECT_EQ(problem("--greater-is-better", "yes"), "--greater-is-better: must be true or false");
  for (const auto& [name, value] : {std::pair{"--max-steps", "-1"},
                                    {"--gradient-accumulation-steps", "0"},
                                    {"--weight-decay", "-1"},
                                    {"--adam-beta1", "1"},
                                    {"--adam-beta2", "-0.1"},
                                    {"--adam-epsilon", "-1"},
                                    {"--warmup-steps", "-1"},
                                    {"--warmup-ratio", "1.5"},
                                    {"--loss", "hinge"},
                                    {"--focal-gamma", "2"},
                                    {"--huber-delta", "1"},
                                    {"--teacher-temperature", "0"},
                                    {"--teacher-temperature", "nan"},
                                    {"--teacher-share", "1.5"},
                                    {"--lora-dropout", "1"},
                                    {"--lora-dropout", "-0.1"},
                                    {"--precision", "fp8"}}) {
    EXPECT_TRUE(problem(name, value).starts_with(std::string{name} + ": ")) << problem(name, value);
  }
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--lr-scheduler-type", "one_cycle", "--warmup-ratio", "0.1"});
            }),
            "--warmup-ratio: does not go with one_cycle, which has its own rise");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--loss=focal", "--focal-gamma=0"});
            }),
            "--focal-gamma: is a number above 0 for --loss focal");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--loss=huber", "--huber-delta=inf"});
            }),
            "--huber-delta: is a number above 0 for --loss huber");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--loss=focal", "--label-smoothing-factor=0.1"});
            }),
            "--label-smoothing-factor: does not go with --loss");
  EXPECT_EQ(problem("--group-field", "author"),
            "--group-field: is for examples that are held out by --dev-fraction or --folds");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--teacher=t", "--skip-unlabelled"});
            }),
            "--skip-unlabelled: does not go with --teacher, which gives the targets of such "
            "examples");
  EXPECT_EQ(problem("--teacher-share", "0.7"), "--teacher: is needed to learn its scores");
  EXPECT_EQ(parsed({"--epochs", "0", "--max-steps", "3"}).max_steps, 3);
}

TEST_F(TrainFlagsTest, TakeWords) {
  for (const auto& [word, order] : {std::pair{"bucket", data::Order::bucket},
                                    {"shuffle", data::Order::shuffle},
                                    {"file", data::Order::file}}) {
    EXPECT_EQ(parsed({"--order", word}).train_batches().plan.order, order);
  }
  EXPECT_EQ(parsed({}).fit_options().on_nonfinite, train::OnNonfinite::stop);
  EXPECT_EQ(parsed({"--on-nonfinite=skip"}).fit_options().on_nonfinite, train::OnNonfinite::skip);
  EXPECT_EQ(parsed({"--lr-scheduler-type=cosine"}).fit_options().schedule.type,
            optim::Schedule::Type::cosine);
  EXPECT_TRUE(parsed({}).report_texts);
  EXPECT_FALSE(parsed({"--report-texts", "false"}).report_texts);
}

TEST_F(TrainFlagsTest, ChooseTheOptimizerWithItsOptions) {
  for (const auto& [name, type] : optim::optimizer_names) {
    const std::string word{name};
    EXPECT_EQ(parsed({"--optim", word.c_str()}).optimizer().type, type) << name;
  }
  const auto choice =
      parsed({"--optim=muon", "--learning-rate=0.1", "--adam-beta1=0.8", "--adam-beta2=0.7",
              "--adam-epsilon=0.6", "--momentum=0.5", "--weight-decay=0.4",
              "--layerwise-lr-decay=0.3", "--head-learning-rate=0.2"})
          .optimizer();
  EXPECT_EQ(choice.lr, 0.1);
  EXPECT_EQ(choice.beta1, 0.8);
  EXPECT_EQ(choice.beta2, 0.7);
  EXPECT_EQ(choice.eps, 0.6);
  EXPECT_EQ(choice.momentum, 0.5);
  EXPECT_EQ(choice.weight_decay, 0.4);
  EXPECT_EQ(choice.layerwise_lr_decay, 0.3);
  EXPECT_EQ(choice.head_lr, 0.2);
  EXPECT_EQ(parsed({"--learning-rate=0.1"}).optimizer().head_lr, std::nullopt);
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--head-learning-rate=1e-3", "--learning-rate=0"});
            }),
            "--head-learning-rate: needs a --learning-rate above 0");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--head-learning-rate=1e-3", "--freeze-encoder"});
            }),
            "--head-learning-rate: needs an encoder that learns; a head that learns alone has "
            "--learning-rate");
  EXPECT_EQ(parsed({"--optim=sgd"}).optimizer().momentum, std::nullopt);
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--optim=muon", "--freeze-encoder"});
            }),
            "--optim: muon steps the encoder's matrices, which --freeze-encoder does not train");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--optim=sgd", "--momentum=1"});
            }),
            "--momentum: must be at least 0 and below 1");
}

TEST_F(TrainFlagsTest, JoinLabelsOnlyIfAsked) {
  const tests::TemporaryDirectory directory;
  tests::write_file(directory / "config.json", "{}");
  const auto file = tests::write_file(directory / "f.csv", "text,label\na,x\nb,X\nc,y\nd,x\n");
  std::string joined;
  const auto choose = [&](std::vector<const char*> more) {
    more.insert(more.end(), {"--model", directory.path().c_str(), "--train-file", file.c_str()});
    return parsed(more)
        .choose_labels([&](const auto& spellings, const std::string& name) {
          joined += name + ": " + data::to_text(spellings);
        })
        .names();
  };
  EXPECT_EQ(choose({}), (std::vector<std::string>{"X", "x", "y"}));
  EXPECT_EQ(joined, "");
  EXPECT_EQ(choose({"--join-labels"}), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(joined, "x: 'x' (2), 'X' (1)");
  EXPECT_EQ(choose({"--join-labels", "--labels", "y,X"}), (std::vector<std::string>{"y", "X"}));
}

TEST_F(TrainFlagsTest, TakeTheTargetsOfAModelOfSeveralAlone) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "f.csv", "text,label,a,b\nx,1,2,3\ny,1,2,3\n");
  const auto choose = [&](const std::string& type, std::vector<const char*> more = {}) {
    tests::write_file(directory / "config.json",
                      R"({"id2label": {"0": "v", "1": "w"}, "problem_type": ")" + type + "\"}");
    more.insert(more.end(), {"--model", directory.path().c_str(), "--train-file", file.c_str(),
                             "--problem-type", "regression"});
    return parsed(more).choose_labels({});
  };
  EXPECT_EQ(choose("single_label_classification"), data::Labels::regression());
  EXPECT_EQ(choose("regression").names(), (std::vector<std::string>{"v", "w"}));
  EXPECT_EQ(choose("regression", {"--labels", "one"}).names(), std::vector<std::string>{"one"});
  EXPECT_EQ(choose("regression", {"--label-field", "b,a"}).names(),
            (std::vector<std::string>{"b", "a"}));
}

TEST_F(TrainFlagsTest, CountOnlyTheRecordsOfASplitWhoseNumbersAreComplete) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(
      directory / "f.csv", "text,x,y,part\na,1,2,train\nb,1,2,dev\nc,1,,test\nd,,2,test\n");
  const auto test_file = [&](std::vector<const char*> more) {
    more.insert(more.end(), {"--model", directory.path().c_str(), "--train-file", file.c_str(),
                             "--label-field", "x,y", "--split-field", "part", "--skip-unlabelled"});
    return parsed(more).with_splits().test_file;
  };
  EXPECT_EQ(test_file({"--problem-type", "regression"}), "");
  tests::write_file(directory / "config.json", R"({"problem_type": "regression"})");
  EXPECT_EQ(test_file({}), "");
  tests::write_file(directory / "config.json", "{}");
  EXPECT_EQ(test_file({}), file.string());
}

TEST_F(TrainFlagsTest, KeepTheCheckpointsOfAFinishedRunIfAsked) {
  EXPECT_FALSE(parsed({}).keeps_checkpoints());
  EXPECT_FALSE(parsed({"--resume", "never"}).keeps_checkpoints());
  EXPECT_TRUE(parsed({"--keep-last-checkpoint"}).keeps_checkpoints());
  EXPECT_TRUE(parsed({"--resume", "auto"}).keeps_checkpoints());
  EXPECT_TRUE(parsed({"--checkpoint-dir", "d"}).keeps_checkpoints());
}

TEST_F(TrainFlagsTest, SayThatAShareHoldsOutNoExample) {
  const auto flags = parsed({"--train-file", "mine.csv"});
  data::EncodedFile whole{.set = data::EncodedSet{10, 0}};
  EXPECT_EQ(tests::problem_of([&] { (void)flags.hold_out(whole); }),
            "--dev-fraction: 0.1 of the 0 examples in mine.csv is no example to evaluate on; give "
            "a larger share, or a --dev-file");
}

TEST_F(TrainFlagsTest, MakeARunOfEachFold) {
  const auto flags = parsed(
      {"--train-file=a.csv", "--folds=4", "--checkpoint-dir=gs://bucket/c", "--logging-dir=logs/"});
  EXPECT_EQ(flags.dev_fraction, 0.25);
  EXPECT_FALSE(flags.holds_out_by_default);
  std::set<std::int64_t> seeds{flags.seed};
  for (std::int64_t number = 1; number <= 4; ++number) {
    const auto fold = flags.of_fold({.number = number, .rows = {3, 5}}, "runs/all");
    const std::string name = "fold-" + std::to_string(number);
    EXPECT_EQ(fold.output_dir, "runs/all/" + name);
    EXPECT_EQ(fold.checkpoint_dir, "gs://bucket/c/" + name);
    EXPECT_EQ(fold.logging_dir, "logs/" + name);
    EXPECT_EQ(fold.fold->rows, (std::vector<std::size_t>{3, 5}));
    EXPECT_GE(fold.seed, 0);
    EXPECT_TRUE(seeds.insert(fold.seed).second);
    EXPECT_EQ(flags.of_fold({.number = number}, "other").seed, fold.seed);
  }
}

TEST_F(TrainFlagsTest, RefuseWhatDoesNotGoWithFolds) {
  const auto problem = [](const char* flag) {
    return tests::problem_of([&] { (void)parsed({"--train-file=a.csv", "--folds=3", flag}); });
  };
  const std::string parts =
      "does not go with --folds, which evaluates on the parts of the training file";
  EXPECT_EQ(problem("--dev-file=b.csv"), "--dev-file: " + parts);
  EXPECT_EQ(problem("--dev-fraction=0.2"), "--dev-fraction: " + parts);
  EXPECT_EQ(problem("--split-field=part"), "--split-field: " + parts);
  const std::string none = "does not go with --folds, which leaves no model";
  EXPECT_EQ(problem("--test-file=b.csv"), "--test-file: " + none + " to be tested");
  EXPECT_EQ(problem("--push-to-hub=me/model"), "--push-to-hub: " + none);
  EXPECT_EQ(problem("--calibrate=yes"), "--calibrate: " + none);
  EXPECT_EQ(problem("--model-name=a.pth"), "--model-name: " + none);
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--train-file=a.csv", "--folds=3", "--lora-rank=2", "--merge-adapter"});
            }),
            "--merge-adapter: " + none);
  EXPECT_TRUE(problem("--hp-tune=y").starts_with("--hp-tune: does not go with --folds"));
  EXPECT_TRUE(problem("--resume=checkpoint-9").starts_with("--resume: does not go with --folds"));
  EXPECT_EQ(problem("--resume=auto"), "nothing was thrown");
  EXPECT_EQ(problem("--group-field=writer"), "nothing was thrown");
  EXPECT_EQ(tests::problem_of([] { (void)parsed({"--folds=1"}); }),
            "--folds: must be 0, or 2 to 1000");
}

TEST_F(TrainFlagsTest, SearchWhatNoFlagGives) {
  const auto space = [](std::vector<const char*> more, ProblemType type, bool adapts = true) {
    more.insert(more.begin(), {"test", "--train-file=a.csv", "--tune=4"});
    TrainFlags flags;
    Flags parser{"test", "does something"};
    EXPECT_TRUE(flags.parse(parser, static_cast<int>(more.size()), more.data()));
    const auto found = flags.search_space(parser, type, adapts);
    return std::string{found.learning_rate ? "rate " : ""} + (found.epochs ? "epochs " : "") +
           (found.batch_size ? "batch " : "") + (found.class_weights ? "weights " : "") +
           (found.part ? "part" : "");
  };
  using enum ProblemType;
  EXPECT_EQ(space({}, single_label), "rate epochs batch weights part");
  EXPECT_EQ(space({}, regression), "rate epochs batch part");
  EXPECT_EQ(space({}, multi_label, false), "rate epochs batch weights ");
  EXPECT_EQ(space({"--learning-rate=1e-4", "--epochs=3"}, single_label), "batch weights part");
  EXPECT_EQ(space({"--max-steps=9", "--tokens-per-batch=99"}, single_label), "rate weights part");
  EXPECT_EQ(space({"--per-device-train-batch-size=16"}, single_label), "rate epochs weights part");
  for (const char* flag :
       {"--freeze-encoder=false", "--lora-rank=2", "--reinit-layers=1", "--layerwise-lr-decay=0.9",
        "--optim=muon", "--head-learning-rate=1e-3"}) {
    EXPECT_EQ(space({flag}, single_label), "rate epochs batch weights ") << flag;
  }
}

TEST_F(TrainFlagsTest, MakeRunsOfTrials) {
  const auto flags = parsed({"--train-file=a.csv", "--test-file=b.csv", "--tune=4", "--seed=7",
                             "--calibrate=yes", "--logging-dir=logs", "--push-to-hub=me/model"});
  const run::TrialValues values{
      .batch_size = 0.5, .balances_classes = true, .part = run::TrainedPart::adapters};
  const auto trial =
      flags.of_trial({.number = 3, .rung = 2, .share = 0.5, .values = values}, "runs/tune");
  EXPECT_EQ(trial.output_dir, "runs/tune/trial-3-rung-2");
  EXPECT_EQ(trial.logging_dir, "logs/trial-3-rung-2");
  EXPECT_TRUE(trial.is_part());
  EXPECT_EQ(trial.seed, 7);
  EXPECT_EQ(trial.test_file + trial.push_to_hub + trial.job_dir, "");
  EXPECT_EQ(trial.calibrate, "no");
  EXPECT_EQ(trial.batch_size, 8);
  EXPECT_EQ(trial.class_weights, (std::vector<std::string>{"auto"}));
  EXPECT_EQ(trial.lora_rank, 8);
  EXPECT_NO_THROW(trial.validate());

  const auto winner = flags.of_winner(values, {{"learning-rate", "0.0002"}, {"epochs", "6"}});
  EXPECT_FALSE(winner.is_part());
  EXPECT_EQ(winner.learning_rate, 2e-4);
  EXPECT_EQ(winner.epochs, 6);
  EXPECT_EQ(winner.lora_rank, 8);
  EXPECT_TRUE(winner.merge_adapter);
  EXPECT_EQ(winner.test_file, "b.csv");
  EXPECT_EQ(winner.calibrate, "yes");
  const auto given = parsed({"--train-file=a.csv", "--epochs=2", "--learning-rate=1e-3"});
  const auto frozen = given.of_winner({.part = run::TrainedPart::head}, {});
  EXPECT_TRUE(frozen.freeze_encoder);
  EXPECT_EQ(frozen.epochs, 2);
  EXPECT_EQ(frozen.learning_rate, 1e-3);
}

/// Parses the flags of a program whose model is scored by its loss alone.
TrainFlags of_loss_alone(std::vector<const char*> arguments) {
  TrainFlags flags;
  flags.scored_by_loss = true;
  Flags parser{"program", "does something"};
  arguments.insert(arguments.begin(), {"program", "--train-file=a.csv"});
  EXPECT_TRUE(flags.parse(parser, static_cast<int>(arguments.size()), arguments.data()));
  return flags;
}

TEST_F(TrainFlagsTest, RefuseWhatNeedsPredictionsOfAModelScoredByItsLoss) {
  for (const char* flag :
       {"--few-shot", "--folds=3", "--teacher=t", "--calibrate=yes", "--class-weights=auto",
        "--label-smoothing-factor=0.1", "--loss=focal", "--soft-labels", "--labels=a,b",
        "--join-labels", "--skip-unlabelled", "--long-texts=windows"}) {
    const std::string_view text{flag};
    const std::string name{text.substr(0, text.find('='))};
    EXPECT_EQ(tests::problem_of([&] { (void)of_loss_alone({flag}); }),
              name + ": does not go with this program: its model is scored by its loss alone");
  }
  EXPECT_EQ(tests::problem_of([] { (void)of_loss_alone({"--metric-for-best-model=accuracy"}); }),
            "--metric-for-best-model: must be loss: the model of this program is scored by its "
            "loss alone");
  EXPECT_NO_THROW((void)of_loss_alone({"--metric-for-best-model=loss", "--best-model"}));
}

TEST_F(TrainFlagsTest, NeedNoLabelsForAModelScoredByItsLoss) {
  auto flags = of_loss_alone({});
  EXPECT_TRUE(flags.has_no_labels());
  EXPECT_EQ(flags.choose_labels({}).problem_type(), ProblemType::loss_alone);
  EXPECT_FALSE(flags.read_options().labelled);
  EXPECT_TRUE(flags.read_options().label_optional);
  flags.reads = [](const data::Example&) { return true; };
  EXPECT_TRUE(flags.read_options().labelled);
  EXPECT_EQ(flags.dev_batches().plan.batch_size, static_cast<std::size_t>(flags.batch_size));
  const auto numbers = of_loss_alone({"--problem-type=regression"});
  EXPECT_FALSE(numbers.has_no_labels());
  EXPECT_TRUE(numbers.read_options().labelled);
}

TEST_F(TrainFlagsTest, RefuseWhatDoesNotGoWithTuning) {
  const auto problem = [](std::vector<const char*> more) {
    more.push_back("--tune=3");
    return tests::problem_of([&] { (void)parsed(more); });
  };
  EXPECT_TRUE(
      problem({"--train-file=a.csv", "--folds=3"}).starts_with("--folds: does not go with"));
  EXPECT_TRUE(problem({"--few-shot"}).starts_with("--few-shot: does not go with --tune"));
  EXPECT_TRUE(problem({"--hp-tune=y"}).starts_with("--hp-tune: does not go with --tune"));
  EXPECT_TRUE(problem({"--resume=checkpoint-9"}).starts_with("--resume: does not go with --tune"));
  EXPECT_EQ(problem({"--dev-file", ""}),
            "--tune: needs examples to evaluate on: give a --dev-file or a --dev-fraction");
  EXPECT_EQ(problem({"--resume=auto"}), "nothing was thrown");
  EXPECT_EQ(problem({"--dataset=org/name"}), "nothing was thrown");
  for (const char* wrong : {"--tune=1", "--tune=-2", "--tune=1001"}) {
    EXPECT_EQ(tests::problem_of([&] { (void)parsed({wrong}); }), "--tune: must be 0, or 2 to 1000");
  }
}

TEST_F(TrainFlagsTest, TakeTheFlagsOfABaseline) {
  TrainFlags flags;
  flags.train_file = flags.dev_file = "";
  Flags parser{"baseline", "does something"};
  const std::array<const char*, 4> arguments{"baseline", "--train-file=a.csv", "--seed=7",
                                             "--class-weights=auto"};
  ASSERT_TRUE(flags.parse_for_baseline(parser, 4, arguments.data()));
  EXPECT_EQ(flags.model, "");
  EXPECT_EQ(flags.dev_fraction, 0.1);
  EXPECT_EQ(flags.seed, 7);
  const auto known = names(parser.values());
  for (const char* other :
       {"learning-rate", "model", "max-length", "long-texts", "epochs", "folds"}) {
    EXPECT_FALSE(known.contains(other)) << other;
  }
}

TEST_F(TrainFlagsTest, TakeAllExamplesOfAFileThatNamesTheirSplits) {
  const auto flags = parsed({"--train-file=a.csv", "--split-field=part"});
  EXPECT_EQ(flags.dev_file, "a.csv");
  EXPECT_EQ(flags.test_file, "a.csv");
  EXPECT_EQ(flags.dev_fraction, 0);
  EXPECT_EQ(flags.read_options(data::Split::dev).split_field, "part");
  EXPECT_EQ(flags.read_options().split_field, "");
  EXPECT_EQ(parsed({"--train-file=a.csv", "--split-field=part", "--dev-file=a.csv"}).dev_file,
            "a.csv");
  const auto held_out = parsed({"--train-file=a.csv", "--split-field=part", "--dev-fraction=0.2"});
  EXPECT_EQ(held_out.dev_file, "");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--train-file=a.csv", "--split-field=part", "--dev-file=b.csv"});
            }),
            "--dev-file: does not go with --split-field");
  EXPECT_EQ(tests::problem_of([] {
              (void)parsed({"--dataset=org/name", "--split-field=part"});
            }),
            "--split-field: does not go with --dataset: it is for one file");
}

TEST_F(TrainFlagsTest, CheckTheSplitsOfAFile) {
  const auto with_splits = [](const std::string& rows, std::vector<const char*> more = {}) {
    const tests::TemporaryFile file{"text,label,part\n" + rows, ".csv"};
    const std::string path = "--train-file=" + file.path().string();
    more.insert(more.end(), {path.c_str(), "--split-field=part"});
    return parsed(more).with_splits();
  };
  const auto problem = [&](const std::string& rows, std::vector<const char*> more = {}) {
    const std::string text = tests::problem_of([&] { (void)with_splits(rows, std::move(more)); });
    return text.substr(std::min(text.find(".csv: "), text.size()));
  };
  EXPECT_EQ(with_splits("a,0,train\nb,1,dev\n").test_file, "");
  EXPECT_NE(with_splits("a,0,train\nb,1,dev\nc,1,test\n").test_file, "");
  EXPECT_NE(with_splits("a,0,train\nb,1,dev\nc,,test\n").test_file, "");
  EXPECT_EQ(with_splits("a,0,train\nb,1,dev\nc,,test\n", {"--skip-unlabelled"}).test_file, "");
  EXPECT_EQ(
      problem("a,0,train\nb,,dev\n", {"--skip-unlabelled"}),
      ".csv: part: names no record with a label for dev; --dev-fraction 0.1 holds out a tenth of "
      "those for train");
  EXPECT_EQ(with_splits("a,0,train\nb,1,test\n", {"--dev-fraction=0.5"}).dev_file, "");
  EXPECT_EQ(
      problem("a,0,train\nb,1,test\n"),
      ".csv: part: names no record for dev; --dev-fraction 0.1 holds out a tenth of those for "
      "train");
  EXPECT_EQ(problem("a,0,dev\n"), ".csv: part: names no record for train; name another field");
  EXPECT_EQ(
      problem("a,0,train\nb,1,dev\n", {"--dev-fraction=0.5"}),
      ".csv: part: names records for dev, and --dev-fraction takes others for that; leave out "
      "--dev-fraction");
  EXPECT_EQ(problem("a,0,train\nb,1,x\n").substr(0, 53),
            ".csv: part: record 2 is in an unknown split, 'x'; wri");
}

TEST_F(TrainFlagsTest, RefuseOneGroup) {
  const tests::TemporaryFile file{"text,label,who\na,0,x\nb,1,x\n", ".csv"};
  const std::string path = "--train-file=" + file.path().string();
  const auto flags = parsed({path.c_str(), "--dev-fraction=0.5", "--group-field=who"});
  const data::Labels labels{{"0", "1"}};
  const auto problem = tests::problem_of([&] { (void)flags.groups(flags.read_options(), labels); });
  EXPECT_NE(problem.find("who: names one group, so none can be held out; name another field"),
            std::string::npos)
      << problem;
  const auto by_text = parsed({path.c_str(), "--group-field=text"});
  EXPECT_EQ(by_text.groups(by_text.read_options(), labels), (std::vector<std::string>{"a", "b"}));
}

TEST_F(TrainFlagsTest, ReadTheNamesOfLabelsFromAFile) {
  const tests::TemporaryFile file{"bad, very\ngood\n", ".txt"};
  const std::string flag = "--labels=" + file.path().string();
  EXPECT_EQ(parsed({flag.c_str()}).labels, (std::vector<std::string>{"bad, very", "good"}));
  EXPECT_EQ(parsed({"--labels=a,b"}).labels, (std::vector<std::string>{"a", "b"}));
}

TEST_F(TrainFlagsTest, PreferTheCommandLineAmongFlagsThatExcludeEachOther) {
  const auto with = [](const std::string& config, const char* argument) {
    const tests::TemporaryFile file{config, ".json"};
    const std::string path = file.path().string();
    return parsed({"--config", path.c_str(), argument});
  };
  const auto held_out = with(R"({"dev-file": "d"})", "--dev-fraction=0.1");
  EXPECT_EQ(held_out.dev_fraction, 0.1);
  EXPECT_EQ(held_out.dev_file, "");
  const auto given = with(R"({"dev-fraction": 0.1})", "--dev-file=d");
  EXPECT_EQ(given.dev_fraction, 0);
  EXPECT_EQ(given.dev_file, "d");
  const auto named = with(R"({"train-file": "t", "dev-file": "d"})", "--dataset=org/name");
  EXPECT_EQ(named.dataset, "org/name");
  EXPECT_EQ(named.train_file + named.dev_file, "");
  const auto file = with(R"({"dataset": "org/name", "train-split": "a"})", "--train-file=t");
  EXPECT_EQ(file.dataset, "");
  EXPECT_EQ(file.train_file, "t");
}

TEST_F(TrainFlagsTest, TakeTheTestFileOfARecordUnlessItIsTheDevFile) {
  const auto tested = [](const std::string& test_file) {
    const tests::TemporaryFile file{
        R"({"flags": {"dev-file": "d", "threads": "99", "test-file": ")" + test_file + "\"}}",
        ".json"};
    const std::string path = file.path().string();
    const auto flags = parsed({"--config", path.c_str(), "--dev-file=new"});
    EXPECT_NE(flags.threads, 99);
    return flags.test_file;
  };
  EXPECT_EQ(tested("d"), "");
  EXPECT_EQ(tested("t"), "t");
}

TEST_F(TrainFlagsTest, RepeatARunFromItsRecord) {
  for (const std::vector<const char*>& arguments :
       {std::vector<const char*>{},
        {"--dev-fraction=0.1", "--learning-rate=3.00000012e-5", "--output-dir=out", "--overwrite",
         "--dropout=0.25", "--class-weights=auto", "--freeze-encoder", "--order=file",
         "--optim=adamw", "--greater-is-better=false", "--report-texts=false"},
        {"--lora-rank=4", "--lora-alpha=6", "--lora-dropout=0.05", "--lora-target=query,value",
         "--use-rslora"}}) {
    TrainFlags flags, again;
    Flags parser{"program", "does something"}, reader{"program", "does something"};
    std::vector<const char*> all{"program"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    ASSERT_TRUE(flags.parse(parser, static_cast<int>(all.size()), all.data()));
    json::Writer record;
    record.begin_object();
    train::append(record, "flags", parser.values());
    const tests::TemporaryFile file{record.end_object().text(), ".json"};
    const std::string path = file.path().string();
    const std::array<const char*, 3> config{"program", "--config", path.c_str()};
    ASSERT_TRUE(again.parse(reader, 3, config.data()));
    EXPECT_EQ(reader.determining_values(), parser.determining_values());
    EXPECT_EQ(again.warmup_ratio, flags.warmup_ratio);
    EXPECT_EQ(again.greater_is_better, flags.greater_is_better);
    EXPECT_EQ(again.report_texts, flags.report_texts);
    EXPECT_EQ(again.dev_file, flags.dev_file);
    EXPECT_EQ(again.output_dir, "");
    EXPECT_FALSE(again.overwrite);
  }
}

TEST_F(TrainFlagsTest, ChooseAdapters) {
  EXPECT_FALSE(parsed({}).lora());
  const auto lora = parsed({"--lora-rank=4", "--lora-alpha=6", "--lora-dropout=0.05",
                            "--lora-target=query,value", "--use-rslora"})
                        .lora();
  ASSERT_TRUE(lora);
  EXPECT_EQ(lora->dropout, 0.05);
  EXPECT_EQ(lora->rank, 4);
  EXPECT_EQ(lora->scale(), 3);
  EXPECT_EQ(lora->targets, (std::vector<std::string>{"query", "value"}));
}

TEST_F(TrainFlagsTest, TakeWhatAServiceThatTunesPasses) {
  EXPECT_FALSE(parsed({}).hp_tune);
  EXPECT_FALSE(parsed({"--hp-tune=n"}).hp_tune);
  const auto flags = parsed({"--hp-tune=y", "--learning-rate=3e-5", "--weight_decay=0.01"});
  EXPECT_TRUE(flags.hp_tune);
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
