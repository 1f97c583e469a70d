#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/experiment/fetch_inputs.hpp>

#include "support/environment.hpp"
#include "support/fault_server.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::experiment {
namespace {

using namespace tests;

/// A bucket that the environment names, a cache for the test, and no hub.
class FetchInputs : public testing::Test {
 protected:
  FaultServer server_;
  TemporaryDirectory directory_;
  tests::Environment emulator_{"STORAGE_EMULATOR_HOST", "127.0.0.1:" + server_.port()};
  tests::Environment cache_{"XDG_CACHE_HOME", directory_.path().string()};
  tests::Environment hub_cache_{"HF_HUB_CACHE", (directory_ / "hub").string()};
  tests::Environment offline_{"HF_HUB_OFFLINE", "1"};
};

TEST_F(FetchInputs, InputsFromBucketsAreFetched) {
  server_.storage.write("m/config.json", "{}");
  server_.storage.write("m/deep/file", "deep");
  server_.storage.write("train.jsonl", "lines");
  cli::TrainFlags given;
  given.model = "gs://bucket/m";
  given.train_file = given.test_file = "gs://bucket/train.jsonl";
  given.dev_file = "dev.jsonl";
  const auto flags = with_local_inputs(given, {log::Log{}});
  EXPECT_EQ(read_file(flags.model + "/config.json"), "{}");
  EXPECT_EQ(read_file(flags.model + "/deep/file"), "deep");
  EXPECT_EQ(read_file(flags.train_file), "lines");
  EXPECT_TRUE(flags.train_file.ends_with("/train.jsonl"));
  EXPECT_TRUE(flags.train_file.starts_with(cache_directory().string()));
  EXPECT_EQ(flags.dev_file, "dev.jsonl");
  EXPECT_EQ(flags.test_file, flags.train_file);
  EXPECT_EQ(server_.count("train.jsonl?alt=media"), 1);
}

TEST_F(FetchInputs, SeveralFilesOfASplitAreFetched) {
  server_.storage.write("a,1.parquet", "a");
  server_.storage.write("b.parquet", "b");
  cli::TrainFlags given;
  given.model = directory_.path().string();
  write_file(directory_ / "config.json", "{}");
  given.train_file = "gs://bucket/a,1.parquet,gs://bucket/b.parquet";
  given.dev_file = "a.parquet,b.parquet";
  const auto flags = with_local_inputs(given, {log::Log{}});
  const std::size_t cut = flags.train_file.find(".parquet,") + 8;
  EXPECT_EQ(read_file(flags.train_file.substr(0, cut)), "a");
  EXPECT_EQ(read_file(flags.train_file.substr(cut + 1)), "b");
  EXPECT_EQ(flags.dev_file, "a.parquet,b.parquet");
}

TEST_F(FetchInputs, InputsThatAreNotThereAreWrongInput) {
  const auto problem_with = [](std::string cli::TrainFlags::*place, const std::string& value) {
    cli::TrainFlags flags;
    flags.model = flags.train_file = flags.dev_file = "here";
    flags.*place = value;
    return problem_of([&] { with_local_inputs(flags, {log::Log{}}); });
  };
  using cli::TrainFlags;
  EXPECT_NE(problem_with(&TrainFlags::train_file, "gs://bucket/absent").find("gs://bucket/absent"),
            std::string::npos);
  EXPECT_NE(problem_with(&TrainFlags::model, "gs://other-bucket/m")
                .find("gs://other-bucket/m/: no such bucket"),
            std::string::npos);
  EXPECT_NE(problem_with(&TrainFlags::output_dir, "gs://bucket/runs").find("--job-dir"),
            std::string::npos);
}

TEST_F(FetchInputs, PlacesInNoKnownStorageAreFoundBeforeAnythingIsFetched) {
  server_.storage.write("train.jsonl", "lines");
  using cli::TrainFlags;
  const auto problem_with = [](std::string cli::TrainFlags::*place) {
    cli::TrainFlags flags;
    flags.train_file = "gs://bucket/train.jsonl";
    flags.*place = "az://bucket/a";
    return problem_of([&] { with_local_inputs(flags, {log::Log{}}); });
  };
  const std::string unknown = "az://bucket/a: is not in a storage that is known here; name ";
  for (std::string TrainFlags::*place : std::initializer_list<std::string TrainFlags::*>{
           &TrainFlags::job_dir, &TrainFlags::checkpoint_dir, &TrainFlags::logging_dir}) {
    EXPECT_TRUE(problem_with(place).starts_with(unknown + "a directory,"));
  }
  EXPECT_EQ(problem_with(&TrainFlags::output_dir),
            "--output-dir: must be a local directory; see --job-dir");
  EXPECT_TRUE(problem_with(&TrainFlags::train_file).starts_with(unknown + "a local path,"));
  EXPECT_EQ(server_.connections(), 0);
  EXPECT_TRUE(problem_with(&TrainFlags::dev_file).starts_with(unknown + "a local path,"));
  EXPECT_TRUE(problem_with(&TrainFlags::model).starts_with(unknown + "a directory, gs://"));
}

/// A data set in a directory.
class LocalDataset : public FetchInputs {
 protected:
  LocalDataset() {
    for (const char* name : {"train-1.csv", "train-2.csv", "validation.csv", "test.csv"}) {
      write_file(directory_ / name, "text,label\na,1\n");
    }
  }

  static cli::TrainFlags parsed(std::vector<const char*> arguments) {
    cli::TrainFlags flags;
    cli::Flags parser{"mnli", "trains"};
    arguments.insert(arguments.begin(), "mnli");
    flags.parse(parser, static_cast<int>(arguments.size()), arguments.data());
    use_dataset(flags, log::Log{});
    return flags;
  }
  static std::string problem_with(const std::vector<const char*>& arguments) {
    return problem_of([&] { parsed(arguments); });
  }

  const std::string set_ = directory_.path().string();
};

TEST_F(LocalDataset, IsADirectoryOfThatName) {
  const auto flags = parsed({"--dataset", set_.c_str()});
  EXPECT_EQ(flags.train_file, set_ + "/train-1.csv," + set_ + "/train-2.csv");
  EXPECT_EQ(flags.dev_file, set_ + "/validation.csv");
  EXPECT_EQ(flags.test_file, "");
  EXPECT_EQ(flags.dataset, set_);
  EXPECT_FALSE(card_dataset(flags));
}

TEST_F(LocalDataset, HasTheSplitsThatAreAskedFor) {
  const auto flags = parsed({"--dataset", set_.c_str(), "--train-split", "validation",
                             "--dev-split", "test", "--test-split", "train"});
  EXPECT_TRUE(flags.train_file.ends_with("/validation.csv"));
  EXPECT_EQ(flags.dev_file, set_ + "/test.csv");
  EXPECT_TRUE(flags.test_file.ends_with("train-2.csv"));
  const auto held_out = parsed({"--dataset", set_.c_str(), "--dev-fraction", "0.1"});
  EXPECT_EQ(held_out.dev_file, "");
  const auto values = with_dataset(
      {{"dataset", "x"}, {"train-split", ""}, {"dev-split", ""}, {"epochs", "1"}}, flags);
  EXPECT_EQ(values, (train::Pairs{{"dataset", set_},
                                  {"train-split", "validation"},
                                  {"dev-split", "test"},
                                  {"epochs", "1"}}));
}

TEST_F(LocalDataset, ReadsASplitOnceThatServesTwice) {
  const auto dev_is_test =
      parsed({"--dataset", set_.c_str(), "--dev-split", "test", "--test-split", "test"});
  EXPECT_EQ(dev_is_test.dev_file, set_ + "/test.csv");
  EXPECT_EQ(dev_is_test.test_file, set_ + "/test.csv");
  const auto test_is_train =
      parsed({"--dataset", set_.c_str(), "--dev-split", "test", "--test-split", "train"});
  EXPECT_EQ(test_is_train.train_file, set_ + "/train-1.csv," + set_ + "/train-2.csv");
  EXPECT_EQ(test_is_train.test_file, test_is_train.train_file);
}

TEST_F(LocalDataset, RefusesWhatDoesNotGoTogether) {
  EXPECT_NE(problem_with({"--dataset", "a/b", "--train-file", "x"}).find("train-file"),
            std::string::npos);
  EXPECT_NE(problem_with({"--dev-split", "test"}).find("needs --dataset"), std::string::npos);
  EXPECT_NE(problem_with({"--dataset", "a/b", "--dev-split", "x", "--dev-fraction", "0.1"})
                .find("does not go with --dev-split"),
            std::string::npos);
  EXPECT_NE(problem_with({"--dataset", set_.c_str(), "--test-split", "x"})
                .find("has no split 'x'; there are: train, validation, test"),
            std::string::npos);
}

TEST_F(LocalDataset, SaysWhichDevSplitsThereAre) {
  std::filesystem::remove(directory_ / "validation.csv");
  const auto problem = problem_with({"--dataset", set_.c_str()});
  EXPECT_NE(problem.find("there are: train, test; name one with --dev-split, or hold out"),
            std::string::npos);
}

TEST_F(LocalDataset, RefusesAMisspelledDirectory) {
  for (const std::string& name :
       {set_ + "/none", std::string{"./none"}, std::string{"runs/x"}, set_ + "/none:config"}) {
    EXPECT_NE(problem_with({"--dataset", name.c_str()}).find("there is no such directory"),
              std::string::npos)
        << name;
  }
}

TEST_F(LocalDataset, IsLookedForOnTheHub) {
  EXPECT_NE(problem_with({"--dataset", "org/set:config@v1"}).find("unset HF_HUB_OFFLINE"),
            std::string::npos);
  EXPECT_NE(problem_with({"--dataset", "org/set/more"}).find("is not a name on the hub"),
            std::string::npos);
}

TEST_F(LocalDataset, RefusesCommasInTheNamesOfSeveralFiles) {
  write_file(directory_ / "train-1,5.csv", "text,label\na,1\n");
  EXPECT_NE(problem_with({"--dataset", set_.c_str()}).find("comma"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::experiment
