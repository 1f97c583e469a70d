#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/memory.hpp>
#include <seqtrain/sink/publish_once.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::sink {
namespace {

using tests::TemporaryDirectory;
using tests::write_file;

class PublishOnce : public testing::Test {
 protected:
  void SetUp() override {
    write_file(work_ / "model.pth", "weights");
    write_file(work_ / "metrics.json", "{\"seconds\": 1}");
  }

  std::string publish(const std::string& fresh) {
    return publish_once(sink_, work_.path(), names_, fresh, [this] {
      if (calls_left_-- == 0) throw Error{"stopped"};
    });
  }

  TemporaryDirectory work_, place_;
  Directory sink_{place_.path()};
  const std::vector<std::string> names_{"model.pth", "metrics.json"};
  int calls_left_ = 1000;
};

TEST_F(PublishOnce, LeavesOneFolderHoweverOftenAJobIsStarted) {
  EXPECT_EQ(publish("first"), "first");
  write_file(work_ / "metrics.json", "{\"seconds\": 2}");
  EXPECT_EQ(publish("second"), "first");
  EXPECT_FALSE(std::filesystem::exists(place_ / "second"));
}

TEST_F(PublishOnce, CompletesTheFolderThatAStoppedJobBegan) {
  calls_left_ = 1;
  EXPECT_THROW(publish("first"), Error);
  EXPECT_FALSE(std::filesystem::exists(place_ / "first/manifest.json"));
  calls_left_ = 1000;
  EXPECT_EQ(publish("second"), "first");
  Manifest::load(place_ / "first/manifest.json").check(place_ / "first");
  EXPECT_FALSE(std::filesystem::exists(place_ / "second"));
}

TEST_F(PublishOnce, TakesAnEmptyFolderForThePlaceItself) {
  EXPECT_EQ(publish(""), "");
  EXPECT_EQ(publish(""), "");
  Manifest::load(place_ / "manifest.json").check(place_.path());
}

TEST_F(PublishOnce, PublishesOtherResultsAnew) {
  publish("first");
  write_file(work_ / "model.pth", "others!");
  EXPECT_EQ(publish("second"), "second");
  EXPECT_TRUE(std::filesystem::exists(place_ / "second/manifest.json"));
}

TEST_F(PublishOnce, PublishesAtAnotherPlaceAnew) {
  publish("first");
  Memory other;
  EXPECT_EQ(publish_once(other, work_.path(), names_, "second"), "second");
  EXPECT_TRUE(other.get("second/manifest.json"));
}

TEST_F(PublishOnce, PublishesAgainWhatHasBeenRemoved) {
  publish("first");
  std::filesystem::remove_all(place_ / "first");
  EXPECT_EQ(publish("second"), "first");
  EXPECT_TRUE(std::filesystem::exists(place_ / "first/manifest.json"));
}

}  // namespace
}  // namespace seqtrain::sink
