#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <seqtrain/cli/local_dataset.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

/// A data set in a directory, and no hub.
class LocalDataset : public testing::Test {
 protected:
  LocalDataset() {
    ::setenv("HF_HUB_OFFLINE", "1", 1);
    ::setenv("HF_HUB_CACHE", (directory_ / "hub").c_str(), 1);
    for (const char* name : {"train-1.csv", "train-2.csv", "validation.csv", "test.csv"}) {
      write_file(directory_ / name, "text,label\na,1\n");
    }
  }
  ~LocalDataset() override {
    ::unsetenv("HF_HUB_OFFLINE");
    ::unsetenv("HF_HUB_CACHE");
  }

  static cli::TrainFlags parsed(std::vector<const char*> arguments) {
    cli::TrainFlags flags;
    cli::Flags parser{"mnli", "trains"};
    arguments.insert(arguments.begin(), "mnli");
    flags.parse(parser, static_cast<int>(arguments.size()), arguments.data());
    cli::use_dataset(flags, log::Log{});
    return flags;
  }
  static std::string problem_with(const std::vector<const char*>& arguments) {
    return problem_of([&] { parsed(arguments); });
  }

  TemporaryDirectory directory_;
  const std::string set_ = directory_.path().string();
};

TEST_F(LocalDataset, IsADirectoryOfThatName) {
  const auto flags = parsed({"--dataset", set_.c_str()});
  EXPECT_EQ(flags.train_file, set_ + "/train-1.csv," + set_ + "/train-2.csv");
  EXPECT_EQ(flags.dev_file, set_ + "/validation.csv");
  EXPECT_EQ(flags.test_file, "");
  EXPECT_EQ(flags.dataset, set_);
  EXPECT_FALSE(cli::card_dataset(flags));
}

TEST_F(LocalDataset, HasTheSplitsThatAreAskedFor) {
  const auto flags = parsed({"--dataset", set_.c_str(), "--train-split", "validation",
                             "--dev-split", "test", "--test-split", "train"});
  EXPECT_TRUE(flags.train_file.ends_with("/validation.csv"));
  EXPECT_EQ(flags.dev_file, set_ + "/test.csv");
  EXPECT_TRUE(flags.test_file.ends_with("train-2.csv"));
  const auto held_out = parsed({"--dataset", set_.c_str(), "--dev-fraction", "0.1"});
  EXPECT_EQ(held_out.dev_file, "");
  const auto values = cli::with_dataset(
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
}  // namespace seqtrain::tests
