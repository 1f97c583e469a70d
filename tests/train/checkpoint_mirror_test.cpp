#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/train/checkpoint_mirror.hpp>

#include "support/fake_store.hpp"
#include "support/snapshots.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::train {
namespace {

using std::chrono::milliseconds;

struct CheckpointMirrorTest : testing::Test {
  void offer(CheckpointMirror& mirror, std::int64_t step) {
    here.write(tests::some_snapshot(step), {});
    mirror.offer(step, here.at(step));
  }

  CheckpointMirror::Options options(milliseconds pause) {
    return {.keep = 2, .pause = pause, .log = [this](std::string_view text) {
              const std::lock_guard lock{mutex};
              said.emplace_back(text);
            }};
  }

  std::unique_ptr<CheckpointStore> store() {
    return std::make_unique<tests::FakeStore>(temporary / "there", reach);
  }

  const tests::TemporaryDirectory temporary;
  const CheckpointDirectory here{temporary / "here"};
  const CheckpointDirectory there{temporary / "there"};
  std::shared_ptr<tests::FakeStore::Reach> reach = std::make_shared<tests::FakeStore::Reach>();
  std::mutex mutex;
  std::vector<std::string> said;
};

TEST_F(CheckpointMirrorTest, CopiesAndKeepsTheNewest) {
  CheckpointMirror mirror{store(), options(milliseconds{1})};
  for (const std::int64_t step : {1, 2, 3, 4}) {
    offer(mirror, step);
    mirror.finish();
  }
  EXPECT_EQ(there.steps(), (std::vector<std::int64_t>{3, 4}));
  EXPECT_TRUE(there.whole(4, {}));
  EXPECT_TRUE(said.empty());
}

TEST_F(CheckpointMirrorTest, ComesBackWhenTheStoreDoes) {
  reach->failures = 3;
  CheckpointMirror mirror{store(), options(milliseconds{1})};
  offer(mirror, 1);
  while (reach->failures > 0) std::this_thread::yield();
  offer(mirror, 2);
  mirror.finish();
  EXPECT_TRUE(there.whole(2, {}));
  ASSERT_EQ(said.size(), 2U);
  EXPECT_NE(said[0].find("checkpoint-1 is on this machine only so far: cannot be reached"),
            std::string::npos);
  EXPECT_NE(said[1].find("is in the store now"), std::string::npos);
}

TEST_F(CheckpointMirrorTest, GivesUpWhenItIsToFinish) {
  reach->failures = 1000;
  CheckpointMirror mirror{store(), options(std::chrono::hours{1})};
  offer(mirror, 1);
  EXPECT_THROW(mirror.finish(), Error);
  EXPECT_LE(reach->puts, 3);
  reach->failures = 0;
  mirror.finish();
  EXPECT_TRUE(there.whole(1, {}));
}

TEST_F(CheckpointMirrorTest, EndsAtOnceWithNothingToDo) {
  CheckpointMirror mirror{store(), options(std::chrono::hours{1})};
  mirror.finish();
  EXPECT_EQ(reach->puts, 0);
}

}  // namespace
}  // namespace seqtrain::train
