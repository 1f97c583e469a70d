#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/memory.hpp>
#include <seqtrain/sink/publish.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::sink {
namespace {

using tests::read_file;
using tests::TemporaryDirectory;
using tests::write_file;

class Publish : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_ / "model");
    write_file(directory_ / "model/b.json", "{}");
    write_file(directory_ / "model/a.bin", "123456789");
    write_file(directory_ / "metrics.json", "{\"x\": 1}");
  }

  TemporaryDirectory directory_;
  const std::vector<std::string> names_{"model", "metrics.json"};
};

TEST_F(Publish, TakesDirectoriesApartInOrder) {
  EXPECT_EQ(files_below(directory_.path(), names_),
            (std::vector<std::string>{"model/a.bin", "model/b.json", "metrics.json"}));
}

TEST_F(Publish, WritesAManifestOfSizesAndChecksums) {
  const TemporaryDirectory to;
  Directory sink{to.path()};
  publish(sink, directory_.path(), names_, "run");
  EXPECT_EQ(read_file(to / "run/model/a.bin"), "123456789");
  const auto manifest = json::Document::load(to / "run/manifest.json");
  const auto files = manifest.root().at("files").items();
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].at("name").string(), "model/a.bin");
  EXPECT_EQ(files[0].at("size").integer(), 9);
  EXPECT_EQ(files[0].at("crc32c").integer(), 0xe3069283);  // RFC 3720's check value
}

/// A sink that fails at one key.
struct Failing {
  void put(std::string_view key, std::span<const std::byte>) { fail_at(key); }
  void put_file(std::string_view key, const std::filesystem::path&) { fail_at(key); }
  void flush() {}
  void fail_at(std::string_view key) {
    keys.emplace_back(key);
    if (key.ends_with("b.json")) throw Error{"no more space"};
  }
  std::vector<std::string> keys = {};
};

TEST_F(Publish, LeavesNoManifestWhereSomethingIsMissing) {
  Failing sink;
  try {
    publish(sink, directory_.path(), names_, "run");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("no more space"), std::string::npos);
    EXPECT_NE(text.find(directory_.path().string()), std::string::npos);
  }
  EXPECT_EQ(sink.keys.back(), "run/model/b.json");
}

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
