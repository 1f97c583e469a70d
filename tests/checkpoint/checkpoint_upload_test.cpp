#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/checkpoint/checkpoint.hpp>
#include <seqtrain/checkpoint/checkpoint_upload.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/memory.hpp>

#include "support/problem_of.hpp"
#include "support/snapshots.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::checkpoint {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Steps = std::vector<std::int64_t>;

/// A store that can be unreachable, or block its callers until somebody cancels.
class Remote : public sink::Memory {
 public:
  void put_file(std::string_view key, const fs::path& file) {
    ++state->puts;
    if (state->failures > 0) {
      --state->failures;
      throw Error{"cannot be reached"};
    }
    wait();
    order.emplace_back(key);
    sink::Memory::put_file(key, file);
  }

  void cancel() {
    const std::lock_guard lock{state->mutex};
    state->cancelled = true;
    state->changed.notify_all();
  }

  void block(bool blocked) {
    const std::lock_guard lock{state->mutex};
    state->blocked = blocked;
    state->changed.notify_all();
  }

  struct State {
    std::atomic<int> puts{0};
    std::atomic<int> failures{0};  ///< failures of the next files
    std::mutex mutex;
    std::condition_variable changed;
    bool blocked = false;
    bool cancelled = false;
  };

  std::unique_ptr<State> state = std::make_unique<State>();
  std::vector<std::string> order = {};

 private:
  void wait() {
    std::unique_lock lock{state->mutex};
    state->changed.wait(lock, [this] { return !state->blocked || state->cancelled; });
    if (state->cancelled) throw Error{"was cancelled"};
  }
};

static_assert(Store<Remote>);

struct CheckpointUploadTest : testing::Test {
  using Upload = CheckpointUpload<sink::Directory, Remote>;

  std::unique_ptr<Upload> upload(std::chrono::milliseconds pause = 1h) {
    RunRecord record{there};
    record.claim("run", "this program");
    return std::make_unique<Upload>(
        here, there, std::move(record),
        Upload::Options{
            .run = "run", .keep = 2, .pause = pause, .log = [this](const train::Notice& notice) {
              const std::lock_guard lock{mutex};
              said.emplace_back(notice.text);
              warnings += notice.warning;
            }});
  }

  void offer(Upload& upload, std::int64_t step) {
    tests::write_snapshot(here, folder.at(step), tests::some_snapshot(step), {.id = "run"});
    upload.offer(step);
  }

  /// Waits until the store has been asked to take so many files.
  void wait_for_puts(int puts) {
    while (there.state->puts < puts) std::this_thread::yield();
  }

  Steps steps() { return CheckpointFolder{there, "run"}.steps(); }

  /// Tells whether the store's copy of the checkpoint equals the local one.
  bool has(std::int64_t step) {
    const auto keys = here.list(folder.at(step));
    for (const auto& key : keys) {
      const auto stored = there.get(key);
      if (!stored || stored->bytes != tests::read_file(here.path_of(key))) return false;
    }
    return keys == there.list(folder.at(step));
  }

  const tests::TemporaryDirectory temporary;
  sink::Directory here{temporary / "here"};
  const CheckpointFolder<sink::Directory> folder{here, "run"};
  Remote there;
  std::mutex mutex;
  std::vector<std::string> said;
  int warnings = 0;
};

TEST_F(CheckpointUploadTest, PutsTheManifestLast) {
  tests::write_snapshot(here, folder.at(3), tests::some_snapshot(3), {.id = "run"});
  upload_checkpoint(here, there, "run", 3);
  EXPECT_TRUE(has(3));
  EXPECT_EQ(there.order.back(), "run/checkpoint-3/manifest.json");
  const auto problem = tests::problem_of([&] { upload_checkpoint(here, there, "run", 4); });
  EXPECT_NE(problem.find("checkpoint-4/manifest.json: is missing"), std::string::npos) << problem;
}

TEST_F(CheckpointUploadTest, CopiesAndKeepsTheNewest) {
  const auto copies = upload();
  for (const std::int64_t step : {1, 2, 3, 4}) {
    offer(*copies, step);
    copies->finish();
  }
  EXPECT_EQ(steps(), (Steps{3, 4}));
  EXPECT_TRUE(has(4));
  EXPECT_TRUE(said.empty());
  EXPECT_NE(there.get("run.json")->bytes.find("\"step\": 4"), std::string::npos);
}

TEST_F(CheckpointUploadTest, LeavesOutWhatIsNoLongerTheNewest) {
  const auto copies = upload();
  there.block(true);
  offer(*copies, 1);
  wait_for_puts(1);
  EXPECT_EQ(copies->under_way(), 1);
  offer(*copies, 2);
  offer(*copies, 3);
  EXPECT_EQ(copies->under_way(), 1);
  there.block(false);
  copies->finish();
  EXPECT_EQ(copies->under_way(), std::nullopt);
  EXPECT_EQ(steps(), (Steps{1, 3}));
}

TEST_F(CheckpointUploadTest, ComesBackWhenTheStoreDoes) {
  there.state->failures = 3;
  const auto copies = upload(1ms);
  offer(*copies, 1);
  while (there.state->failures > 0) std::this_thread::yield();
  offer(*copies, 2);
  copies->finish();
  EXPECT_TRUE(has(2));
  ASSERT_EQ(said.size(), 2U);  // not one for each attempt
  EXPECT_EQ(said[0], "checkpoint-1 is on this machine only so far: cannot be reached");
  EXPECT_NE(said[1].find("is in memory now"), std::string::npos) << said[1];
  EXPECT_EQ(warnings, 1);
}

TEST_F(CheckpointUploadTest, GivesUpWhenItIsToFinishAndCanTryAgain) {
  there.state->failures = 1000;
  const auto copies = upload();
  offer(*copies, 1);
  const auto problem = tests::problem_of([&] { copies->finish(); });
  EXPECT_NE(problem.find("cannot be reached"), std::string::npos) << problem;
  EXPECT_LE(there.state->puts, 3);
  there.state->failures = 0;
  copies->finish();
  EXPECT_TRUE(has(1));
}

TEST_F(CheckpointUploadTest, EndsAtOnceWithNothingToDo) {
  const auto copies = upload();
  copies->finish();
  EXPECT_EQ(there.state->puts, 0);
}

TEST_F(CheckpointUploadTest, CancelsWhatIsOnItsWayWhenItIsDestroyed) {
  auto copies = upload();
  there.block(true);
  offer(*copies, 1);
  wait_for_puts(1);
  copies.reset();
  EXPECT_TRUE(there.state->cancelled);
  EXPECT_EQ(steps(), Steps{});
}

TEST_F(CheckpointUploadTest, EndsItsPauseWhenItIsDestroyed) {
  there.state->failures = 1000;
  auto copies = upload();
  offer(*copies, 1);
  wait_for_puts(1);
  copies.reset();
  EXPECT_EQ(there.state->puts, 1);
}

TEST_F(CheckpointUploadTest, LeavesTheStoreAloneWhenItIsDestroyedWithNothingOnItsWay) {
  auto copies = upload();
  offer(*copies, 1);
  copies->finish();
  copies.reset();
  EXPECT_FALSE(there.state->cancelled);
}

TEST_F(CheckpointUploadTest, NoticesThatItIsReplacedAndRemovesNothing) {
  const auto copies = upload();
  for (const std::int64_t step : {1, 2}) {
    offer(*copies, step);
    copies->finish();
  }
  EXPECT_FALSE(copies->replaced());
  RunRecord{there}.claim("run", "another program");
  offer(*copies, 3);
  copies->finish();
  EXPECT_TRUE(copies->replaced());
  EXPECT_EQ(steps(), (Steps{1, 2, 3}));
  const int puts = there.state->puts;
  offer(*copies, 4);
  copies->finish();
  EXPECT_EQ(there.state->puts, puts);
}

}  // namespace
}  // namespace seqtrain::checkpoint
