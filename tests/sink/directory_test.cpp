#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/sink/directory.hpp>

#include "support/sink_conformance.hpp"
#include "support/store_conformance.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

namespace fs = std::filesystem;

struct DirectorySubject {
  std::optional<std::string> read(std::string_view key) const {
    const auto path = directory / key;
    if (!fs::is_regular_file(path)) return std::nullopt;
    return read_file(path);
  }

  TemporaryDirectory directory;
  sink::Directory sink{directory.path()};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Directory, SinkConformance, DirectorySubject);
INSTANTIATE_TYPED_TEST_SUITE_P(Directory, StoreConformance, DirectorySubject);

TEST(Directory, CreatesNothingBeforeTheFirstPut) {
  const TemporaryDirectory directory;
  sink::Directory sink{directory / "jobs/one"};
  EXPECT_TRUE(fs::is_empty(directory.path()));
  sink.put("model_1/model.pth", bytes_of("weights"));
  EXPECT_EQ(read_file(directory / "jobs/one/model_1/model.pth"), "weights");
}

TEST(Directory, LeavesOnlyObjectsBehind) {
  const TemporaryDirectory directory;
  sink::Directory sink{directory.path()};
  sink.put("one", bytes_of("1"));
  EXPECT_THROW(sink.put_file("two", directory / "absent"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator{directory.path()}, {}), 1);
}

TEST(Directory, AnObjectInPlaceOfADirectoryIsAnError) {
  const TemporaryDirectory directory;
  sink::Directory sink{directory.path()};
  sink.put("a", bytes_of("1"));
  EXPECT_THROW(sink.put("a/b", bytes_of("2")), Error);
  sink.put("dir/b", bytes_of("3"));
  EXPECT_THROW(sink.put("dir", bytes_of("4")), Error);
  EXPECT_EQ(read_file(directory / "a"), "1");
  EXPECT_EQ(read_file(directory / "dir/b"), "3");
}

TEST(Directory, ListsNeitherLocksNorTemporaryFiles) {
  const TemporaryDirectory directory;
  sink::Directory sink{directory.path()};
  sink.put("dir/a", bytes_of("1"));
  write_file(directory / "dir/b.partial", "half");
  EXPECT_TRUE(sink.put_if("lease", bytes_of("2"), 0));
  EXPECT_TRUE(fs::exists(directory / ".put_if.lock"));
  EXPECT_EQ(sink.list(""), (std::vector<std::string>{"dir/a", "lease"}));
}

TEST(Directory, ListsWhatKilledProcessesLeft) {
  const TemporaryDirectory directory;
  sink::Directory sink{directory.path()};
  sink.put("dir/a", bytes_of("1"));
  write_file(directory / "dir/b.partial", "half");
  fs::create_directories(directory / "dir/c/d");
  EXPECT_EQ(sink.leftovers(""), (std::vector<std::string>{"dir/b.partial", "dir/c/d"}));
  for (const auto& key : sink.leftovers("dir")) sink.remove(key);
  EXPECT_TRUE(sink.leftovers("").empty());
  EXPECT_FALSE(fs::exists(directory / "dir/c"));
}

TEST(Directory, RemovesDirectoriesThatBecameEmpty) {
  const TemporaryDirectory directory;
  sink::Directory sink{directory / "root"};
  sink.put("exp/checkpoint-1/model/a", bytes_of("1"));
  sink.put("exp/b", bytes_of("2"));
  sink.remove("exp/checkpoint-1/model/a");
  EXPECT_FALSE(fs::exists(directory / "root/exp/checkpoint-1"));
  EXPECT_TRUE(fs::exists(directory / "root/exp/b"));
  sink.remove("exp/b");
  EXPECT_TRUE(fs::is_empty(directory / "root"));
}

TEST(Directory, WritesADirectoryAgainThatSomebodyRemoved) {
  const TemporaryDirectory directory;
  sink::Directory sink{directory / "root"};
  sink.put("exp/deeper/a", bytes_of("1"));
  fs::remove_all(directory / "root");
  sink.put("exp/deeper/a", bytes_of("2"));
  EXPECT_EQ(read_file(directory / "root/exp/deeper/a"), "2");
}

TEST(Directory, PutsPiecesAsOneObjectAndMapsIt) {
  const TemporaryDirectory directory;
  sink::Directory sink{directory.path()};
  const std::string large(1'000'000, 'x');
  const std::array pieces{bytes_of("head"), bytes_of(large), bytes_of("tail")};
  sink.put_pieces("name", pieces);
  EXPECT_TRUE(sink.map("name")->text() == "head" + large + "tail");
  EXPECT_FALSE(sink.map("absent"));
  EXPECT_EQ(sink.path_of("name"), directory / "name");
}

TEST(Directory, ManyThreadsTakeALeaseInTurn) {
  const TemporaryDirectory directory;
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      sink::Directory sink{directory.path()};
      for (int turn = 0; turn < 20; ++turn) {
        const auto before = sink.get("count");
        const auto text = std::to_string(before ? std::stoi(before->bytes) + 1 : 1);
        if (sink.put_if("count", bytes_of(text), before ? before->generation : 0)) ++taken;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GE(taken, 20);
  EXPECT_EQ(read_file(directory / "count"), std::to_string(taken));
}

/// The real files, which remember what was forced to the disk and can fail to do it.
struct Watched : Files {
  struct Log {
    std::vector<fs::path> synced;
    bool fails = false;
  };

  void sync_directory(const Path& path) const {
    if (log->fails) throw Error{"cannot sync"};
    log->synced.push_back(path);
    Files::sync_directory(path);
  }

  std::shared_ptr<Log> log = std::make_shared<Log>();
};

TEST(Directory, ForcesNewDirectoriesToTheDisk) {
  const TemporaryDirectory directory;
  const fs::path root = directory / "job/root";
  const Watched files;
  sink::BasicDirectory<Watched> sink{root, files};
  sink.put("exp/deeper/a", bytes_of("1"));
  const auto& synced = files.log->synced;
  for (const fs::path& each :
       {directory.path(), directory / "job", root, root / "exp", root / "exp/deeper"}) {
    EXPECT_GE(std::count(synced.begin(), synced.end(), each), 1) << each;
  }
  files.log->synced.clear();
  sink.put("exp/deeper/b", bytes_of("2"));
  EXPECT_EQ(files.log->synced, (std::vector<fs::path>{root / "exp/deeper"}));
}

TEST(Directory, ForcesDirectoriesToTheDiskThatAKilledProcessMade) {
  const TemporaryDirectory directory;
  fs::create_directories(directory / "exp");
  const Watched files;
  sink::BasicDirectory<Watched> sink{directory.path(), files};
  sink.put("exp/a", bytes_of("1"));
  const auto& synced = files.log->synced;
  EXPECT_EQ(std::count(synced.begin(), synced.end(), directory.path()), 1);
  EXPECT_EQ(std::count(synced.begin(), synced.end(), directory / "exp"), 1);
}

TEST(Directory, ForcesTheDirectoriesAboveItsRootToTheDisk) {
  const TemporaryDirectory directory;
  fs::create_directories(directory / "made/by/others");
  const Watched files;
  sink::BasicDirectory<Watched> sink{directory / "made/by/others", files};
  sink.put("a", bytes_of("1"));
  const auto& synced = files.log->synced;
  for (const fs::path& each : {directory.path(), directory / "made", directory / "made/by"}) {
    EXPECT_EQ(std::count(synced.begin(), synced.end(), each), 1) << each;
  }
}

TEST(Directory, ADirectoryThatCannotBeForcedToTheDiskIsAnError) {
  const TemporaryDirectory directory;
  const Watched files;
  sink::BasicDirectory<Watched> sink{directory / "root", files};
  files.log->fails = true;
  EXPECT_THROW(sink.put("exp/a", bytes_of("1")), Error);
  files.log->fails = false;
  sink.put("exp/a", bytes_of("1"));
  files.log->fails = true;
  EXPECT_THROW(sink.put("exp/a", bytes_of("2")), Error);
  EXPECT_THROW(sink.remove("exp/a"), Error);
}

TEST(Directory, ARootThatCannotBeWrittenIsWrongInput) {
  const TemporaryDirectory directory;
  const auto file = write_file(directory / "file", "");
  EXPECT_THROW(sink::Directory{file}, InputError);
  EXPECT_THROW(sink::Directory{file / "below"}, InputError);
}

}  // namespace
}  // namespace seqtrain::tests
