#include "support/chaos.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/checkpoint_folder.hpp>
#include <seqtrain/checkpoint/run_record.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/sink/directory.hpp>

#include "support/environment.hpp"

namespace seqtrain::tests {
namespace {

namespace fs = std::filesystem;

TEST_F(Chaos, KilledRunsEndWithTheSameBits) {
  disturb("killed", SIGKILL, kills_wanted());
}

TEST_F(Chaos, KilledRunsWithAdaptersEndWithTheSameBits) {
  more_ = {"--lora-rank", "2"};
  undisturbed_ = "adapters";
  weights_ = "adapter_model.safetensors";
  ASSERT_EQ(run_to_the_end("adapters"), 0) << read_file(directory_ / "adapters.log");
  disturb("adapted", SIGKILL, kills_wanted());
}

TEST_F(Chaos, TerminatedRunsEndWithTheSameBits) {
  disturb("terminated", SIGTERM, kills_wanted());
}

TEST_F(Chaos, ABrokenCheckpointIsNamedAndTheOneBeforeUsed) {
  const auto checkpoints = directory_ / "broken.checkpoints";
  fs::copy(directory_ / "whole.checkpoints", checkpoints, fs::copy_options::recursive);
  sink::Directory place{checkpoints};
  const checkpoint::CheckpointFolder folder{place, checkpoint::RunRecord{place}.run()};
  const auto all = folder.steps();
  ASSERT_EQ(all.size(), 2U);
  const auto file = place.path_of(folder.at(all.back(), "model.safetensors"));
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_EQ(run_to_the_end("broken"), 0);
  const std::string log = read_file(directory_ / "broken.log");
  EXPECT_NE(log.find(train::checkpoint_name(all.back()) + " is not used"), std::string::npos)
      << log;
  EXPECT_NE(log.find("Resumed from " + (checkpoints / folder.at(all.front())).string()),
            std::string::npos)
      << log;
  EXPECT_TRUE(read_file(directory_ / "broken/model.pth") ==
              read_file(directory_ / "whole/model.pth"));
}

TEST_F(Chaos, ASecondProcessIsRefused) {
  const auto words = command("shared");
  const pid_t first = start(words, directory_ / "first.log");
  while (!fs::exists(directory_ / "shared.checkpoints/.lock")) {
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  const int code = wait_for(start(words, directory_ / "second.log"));
  EXPECT_EQ(code, 2) << read_file(directory_ / "second.log");
  EXPECT_NE(read_file(directory_ / "second.log").find("another program"), std::string::npos);
  EXPECT_EQ(wait_for(first), 0) << read_file(directory_ / "first.log");
}

TEST_F(Chaos, APreemptedWorkerOfACloudJobContinuesByItself) {
  const Environment id{"CLOUD_ML_JOB_ID", "123"};
  const Environment place{"AIP_CHECKPOINT_DIR", (directory_ / "job.checkpoints").string() + "/"};
  auto words = command("job");
  const auto flag = std::ranges::find(words, "--checkpoint-dir");
  words.erase(flag, flag + 2);
  const auto log = directory_ / "job.log";
  const pid_t first = start(words, log);
  while (!fs::exists(directory_ / "job/train_log.jsonl")) {
    int code = 0;
    ASSERT_FALSE(has_ended(first, code)) << read_file(log);
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  ::kill(first, SIGTERM);
  EXPECT_EQ(wait_for(first), 3) << read_file(log);
  fs::remove_all(directory_ / "job");  // as on another machine
  EXPECT_EQ(wait_for(start(words, log)), 0) << read_file(log);
  EXPECT_TRUE(read_file(directory_ / "job/model.pth") == read_file(directory_ / "whole/model.pth"));
  std::istringstream lines{read_file(log)};
  bool resumed = false;
  for (std::string line; std::getline(lines, line);) {
    const auto document = json::Document::parse(line, "log");
    const auto message = document.root().at("message").string();
    resumed = resumed || message.starts_with("Resumed from ");
  }
  EXPECT_TRUE(resumed) << read_file(log);
}

TEST_F(Chaos, OtherSettingsAreRefused) {
  auto words = command("whole");
  words.insert(words.end(), {"--seed", "7", "--learning-rate", "3e-4"});
  EXPECT_EQ(wait_for(start(words, directory_ / "other.log")), 2);
  const std::string log = read_file(directory_ / "other.log");
  EXPECT_NE(log.find("seed (1234 there, 7 here)"), std::string::npos) << log;
  EXPECT_NE(log.find("learning-rate (0.0001 there, 0.0003 here)"), std::string::npos) << log;
}

}  // namespace
}  // namespace seqtrain::tests
