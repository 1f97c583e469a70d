#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/checkpoint_folder.hpp>
#include <seqtrain/checkpoint/run_record.hpp>
#include <seqtrain/gcs/sink.hpp>
#include <seqtrain/sink/directory.hpp>

#include "support/chaos.hpp"
#include "support/fault_server.hpp"

namespace seqtrain::tests {
namespace {

/// The checkpoints are in a bucket, and every other start is on a new machine.
class ChaosInABucket : public Chaos {
 protected:
  void SetUp() override {
    Chaos::SetUp();
    ::setenv("STORAGE_EMULATOR_HOST", ("http://127.0.0.1:" + server_.port()).c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("STORAGE_EMULATOR_HOST");
    Chaos::TearDown();
  }

  [[nodiscard]] std::string checkpoint_dir(const std::string& name) const override {
    return name == "whole" ? Chaos::checkpoint_dir(name) : "gs://bucket/" + name;
  }
  void between_starts(const std::string& name) override {
    if (++starts_ % 2 == 0) std::filesystem::remove_all(directory_ / name / "checkpoints");
  }

  void expect_same(const std::string& name) override {
    Chaos::expect_same(name);
    gcs::Sink bucket{checkpoint_dir(name)};
    const checkpoint::CheckpointFolder folder{bucket, checkpoint::RunRecord{bucket}.run()};
    EXPECT_EQ(folder.steps().back(), 16);
    EXPECT_LE(folder.steps().size(), 2U);
  }
  void forget(const std::string& name) override {
    Chaos::forget(name);
    server_.storage.clear();
  }

  FaultServer server_;
  int starts_ = 0;
};

TEST_F(ChaosInABucket, KilledRunsEndWithTheSameBits) {
  for (const char* request : {"PUT", "POST", "GET", "DELETE"}) {
    for (int i = 0; i < 3; ++i) {
      Fault fault{.kind = Fault::lose_answer};
      fault.method = request;
      fault.skip = 5;
      server_.script(std::move(fault));
    }
  }
  disturb("evicted", SIGKILL, (kills_wanted() + 1) / 2);
}

TEST_F(ChaosInABucket, WithoutItAllIsOnTheDisk) {
  auto words = command("alone");
  words.insert(words.end(), {"--max-steps", "3"});
  // The bucket can be written when the run begins (a trial, run.json), and then no more.
  server_.script({.kind = Fault::answer,
                  .method = "POST",
                  .skip = 2,
                  .times = 1000000,
                  .response = {.status = 403, .body = "{}"}});
  EXPECT_EQ(wait_for(start(words, directory_ / "alone.log")), 1);
  const std::string log = read_file(directory_ / "alone.log");
  EXPECT_NE(log.find("is on this machine only so far"), std::string::npos) << log;
  EXPECT_TRUE(std::filesystem::exists(directory_ / "alone/model.pth"));
  sink::Directory place{directory_ / "alone/checkpoints"};
  const auto runs = place.list("");
  EXPECT_TRUE(std::ranges::any_of(
      runs, [](const std::string& key) { return key.ends_with("/checkpoint-3/manifest.json"); }));
}

}  // namespace
}  // namespace seqtrain::tests
