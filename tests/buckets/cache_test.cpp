#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/buckets/cache.hpp>

#include "support/offline_storage.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

class Cache : public testing::Test {
 protected:
  OfflineStorage service_;
  gcs::Client client_ = service_.client();
  TemporaryDirectory directory_;
  buckets::Cache<gcs::Client> cache_{directory_ / "deep/cache"};

  std::filesystem::path fetch(const std::string& name) {
    return cache_.fetch(client_, {"bucket", name}, {.range_bytes = 3});
  }
  /// Returns the number of requests of a fetch.
  int cost_of(const std::string& name) {
    const int before = service_.requests;
    fetch(name);
    return service_.requests - before;
  }
};

TEST_F(Cache, KeepsAFileUnderItsName) {
  service_.storage.write("data/train.jsonl", "0123456789");
  const auto path = fetch("data/train.jsonl");
  EXPECT_EQ(path.filename(), "train.jsonl");
  EXPECT_EQ(read_file(path), "0123456789");
  EXPECT_EQ(fetch("data/train.jsonl"), path);
  EXPECT_EQ(cost_of("data/train.jsonl"), 1);
}

TEST_F(Cache, KeepsADirectoryAsATree) {
  service_.storage.write("model/config.json", "{}");
  service_.storage.write("model/sub/weights", std::string(10, 'w'));
  service_.storage.write("model/", "");
  service_.storage.write("model2/other", "x");
  const auto path = fetch("model");
  EXPECT_EQ(read_file(path / "config.json"), "{}");
  EXPECT_EQ(read_file(path / "sub/weights"), std::string(10, 'w'));
  EXPECT_FALSE(std::filesystem::exists(path / "other"));
  EXPECT_EQ(fetch("model/"), path);
}

TEST_F(Cache, FetchesANewGeneration) {
  service_.storage.write("a", "old");
  const auto old = fetch("a");
  service_.storage.write("a", "new");
  EXPECT_EQ(read_file(fetch("a")), "new");
  EXPECT_EQ(read_file(old), "old");
}

TEST_F(Cache, FetchesAgainWhatWasDamaged) {
  service_.storage.write("a", "0123456789");
  const auto path = fetch("a");
  write_file(path, "0123456780");
  EXPECT_EQ(read_file(fetch("a")), "0123456789");
  write_file(path, "012345678");
  EXPECT_EQ(read_file(fetch("a")), "0123456789");
  std::filesystem::remove(path);
  EXPECT_EQ(read_file(fetch("a")), "0123456789");
}

TEST_F(Cache, PassesOverWhatAnInterruptedProcessLeft) {
  service_.storage.write("a", "0123456789");
  const auto entry = fetch("a").parent_path();
  auto partial = entry;
  std::filesystem::rename(entry, partial += ".partial");
  write_file(partial / "a", "01234");
  EXPECT_EQ(read_file(fetch("a")), "0123456789");
  EXPECT_FALSE(std::filesystem::exists(partial));
}

TEST_F(Cache, FetchesOnceForManyThreads) {
  service_.storage.write("a", "0123456789");
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([this] { EXPECT_EQ(read_file(fetch("a")), "0123456789"); });
    }
  }
  EXPECT_EQ(service_.requests, 6 + 4);
}

TEST_F(Cache, FetchesTwiceAtMostWhatArrivesDamaged) {
  service_.storage.write("a", "0123456789");
  service_.storage.damage_reads = 1;
  EXPECT_EQ(read_file(fetch("a")), "0123456789");
  service_.storage.write("a", "9876543210");
  service_.storage.damage_reads = 1000;
  EXPECT_THROW(fetch("a"), Error);
}

TEST_F(Cache, NeverLeavesItsDirectory) {
  for (const std::string name : {"../evil", "a/../../evil", "/evil", "a//evil", "./evil"}) {
    service_.storage.write("dir/" + name, "x");
    EXPECT_THROW(fetch("dir"), InputError) << name;
    client_.remove({"bucket", "dir/" + name});
  }
  service_.storage.write("dir/..", "x");
  EXPECT_THROW(fetch("dir/.."), InputError);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "deep/evil"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "evil"));
}

TEST_F(Cache, RefusesAFileThatIsADirectoryToo) {
  service_.storage.write("dir/a", "x");
  service_.storage.write("dir/a/b", "y");
  EXPECT_THROW(fetch("dir"), InputError);
}

TEST_F(Cache, SaysWhatIsNotThere) {
  EXPECT_THROW(fetch("nothing"), gcs::NotFound);
  EXPECT_THROW(static_cast<void>(cache_.fetch(client_, {"other-bucket", "a"})), gcs::NotFound);
  EXPECT_THROW(buckets::Cache<gcs::Client>{write_file(directory_ / "file", "")}, InputError);
}

}  // namespace
}  // namespace seqtrain::tests
