#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/train/checkpoint_directory.hpp>

#include "support/snapshots.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::train {
namespace {

namespace fs = std::filesystem;

TEST(CheckpointName, NamesAndSteps) {
  EXPECT_EQ(checkpoint_name(500), "checkpoint-500");
  EXPECT_EQ(checkpoint_step("checkpoint-500"), 500);
  for (const char* other : {"checkpoint-", "checkpoint-5x", "checkpoint--5", "checkpoint-5.partial",
                            "run-5", "checkpoint-99999999999999999999"}) {
    EXPECT_EQ(checkpoint_step(other), std::nullopt) << other;
  }
}

struct CheckpointDirectoryTest : testing::Test {
  void write(std::int64_t step) { directory.write(tests::some_snapshot(step), {}); }

  const tests::TemporaryDirectory temporary;
  const CheckpointDirectory directory{temporary / "checkpoints"};
  std::vector<std::string> said;
  const CheckpointDirectory::Log log = [this](std::string_view text) { said.emplace_back(text); };
};

TEST_F(CheckpointDirectoryTest, FindsTheNewestWholeOneAndNamesTheOthers) {
  EXPECT_FALSE(directory.newest(log));
  for (const std::int64_t step : {5, 10, 9}) write(step);
  EXPECT_EQ(directory.steps(), (std::vector<std::int64_t>{5, 9, 10}));
  EXPECT_EQ(directory.newest(log)->state().position.step, 10);
  EXPECT_TRUE(said.empty());
  fs::resize_file(directory.at(10) / "model.safetensors", 20);
  fs::remove(directory.at(9) / "manifest.json");
  EXPECT_EQ(directory.newest(log)->state().position.step, 5);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_NE(said[0].find("checkpoint-10 is not used"), std::string::npos);
  EXPECT_NE(said[0].find("model.safetensors"), std::string::npos);
}

TEST_F(CheckpointDirectoryTest, ReplacesABrokenOneOfTheSameStepAndNoOther) {
  write(5);
  const auto file = directory.at(5) / "model.safetensors";
  const auto written = fs::last_write_time(file);
  write(5);
  EXPECT_EQ(fs::last_write_time(file), written);
  fs::resize_file(file, 20);
  write(5);
  EXPECT_TRUE(directory.whole(5, log));
}

TEST_F(CheckpointDirectoryTest, KeepsTheNewestAndClearsWhatWasLeft) {
  for (const std::int64_t step : {1, 2, 3, 4, 50}) write(step);
  fs::create_directories(directory.path() / "checkpoint-7.partial");
  tests::write_file(directory.path() / "notes.txt", "mine");
  directory.prune(4, 2, 1);
  EXPECT_EQ(directory.steps(), (std::vector<std::int64_t>{1, 3, 4}));
  EXPECT_TRUE(fs::exists(directory.path() / "notes.txt"));
  EXPECT_FALSE(fs::exists(directory.path() / "checkpoint-7.partial"));
}

TEST_F(CheckpointDirectoryTest, LeavesTheOthersWhereWritingFails) {
  write(1);
  tests::write_file(directory.path() / "checkpoint-2", "a file in the way of nothing");
  const auto fail = [](const fs::path& empty) {
    tests::write_file(empty / "half", "");
    throw Error{"the disk is full"};
  };
  EXPECT_THROW(directory.fill(3, fail), Error);
  EXPECT_FALSE(fs::exists(directory.path() / "checkpoint-3.partial"));
  EXPECT_TRUE(directory.whole(1, log));
  EXPECT_EQ(directory.newest(log)->state().position.step, 1);
}

TEST(CheckpointDirectory, RefusesWhatCannotBeWritten) {
  const tests::TemporaryDirectory temporary;
  const auto file = tests::write_file(temporary / "file", "");
  EXPECT_THROW(CheckpointDirectory{file}, InputError);
}

}  // namespace
}  // namespace seqtrain::train
