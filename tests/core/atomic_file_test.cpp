#include <cstddef>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <seqtrain/core/atomic_file.hpp>

#include "support/file_size_limit.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

namespace fs = std::filesystem;

using tests::read_file;

class AtomicFileTest : public testing::Test {
 protected:
  /// Returns the number of files in the test's directory.
  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator{directory_.path()}, {});
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(AtomicFileTest, IsVisibleOnlyAfterCommit) {
  const auto path = directory_ / "a.txt";
  AtomicFile file{path};
  file.write(std::string_view{"one "});
  file.write(std::string_view{"two"});
  EXPECT_EQ(file.size(), 7u);
  EXPECT_FALSE(fs::exists(path));
  file.commit();
  EXPECT_EQ(read_file(path), "one two");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, WithoutCommitTheOldFileStays) {
  const auto path = directory_ / "a.txt";
  write_file_atomically(path, "old");
  {
    AtomicFile file{path};
    file.write(std::string_view{"new"});
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, ReplacesAnOldFile) {
  const auto path = directory_ / "a.txt";
  write_file_atomically(path, "old");
  write_file_atomically(path, "");
  EXPECT_TRUE(fs::exists(path));
  EXPECT_EQ(read_file(path), "");
}

TEST_F(AtomicFileTest, KeepsTheOrderOfSmallAndLargePieces) {
  const auto path = directory_ / "large.bin";
  std::string expected;
  AtomicFile file{path};
  for (const std::size_t size : {1u, 300'000u, 0u, 7u, 262'143u, 2u, 262'144u, 262'145u, 5u}) {
    const std::string piece(size, static_cast<char>('a' + size % 23));
    file.write(std::string_view{piece});
    expected += piece;
  }
  EXPECT_EQ(file.size(), expected.size());
  file.commit();
  EXPECT_TRUE(read_file(path) == expected);
}

TEST_F(AtomicFileTest, TwoWritersOfOneNameDoNotMix) {
  const auto path = directory_ / "a.txt";
  AtomicFile first{path};
  AtomicFile second{path};
  first.write(std::string_view{"first"});
  second.write(std::string_view{"second"});
  second.commit();
  first.commit();
  EXPECT_EQ(read_file(path), "first");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, OverwritesWhatAKilledWriterLeft) {
  const auto path = directory_ / "a.txt";
  tests::write_file(path.string() + ".partial", "much more text than the next writer writes");
  write_file_atomically(path, "new");
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, ManyThreadsReplaceOneFileAndNoneMixes) {
  const auto path = directory_ / "a.txt";
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    writers.emplace_back([&path, letter] {
      for (int i = 0; i < 50; ++i) write_file_atomically(path, std::string(1000, letter));
    });
  }
  for (auto& writer : writers) writer.join();
  const auto text = read_file(path);
  EXPECT_EQ(text, std::string(1000, text.at(0)));
  EXPECT_EQ(entries(), 1);
}

/// The real files, with one step that fails.
struct Failing : Files {
  explicit Failing(std::string which) : step{std::move(which)} {}

  void write(Output& file, std::span<const std::byte> bytes) const {
    fail_at("write");
    Files::write(file, bytes);
  }
  void sync(Output& file) const {
    fail_at("sync");
    Files::sync(file);
  }
  void rename(const Path& from, const Path& to) const {
    fail_at("rename");
    Files::rename(from, to);
  }
  void sync_directory(const Path& path) const {
    fail_at("sync_directory");
    Files::sync_directory(path);
  }
  void fail_at(const std::string& now) const {
    if (now == step) throw Error{now};
  }

  std::string step;
};

TEST_F(AtomicFileTest, EveryStepThatFailsThrowsAndLeavesNothing) {
  const auto path = directory_ / "a.txt";
  for (const char* step : {"write", "sync", "rename", "sync_directory"}) {
    write_file_atomically(path, "old");
    const auto replace = [&] {
      BasicAtomicFile<Failing> file{path, Failing{step}};
      file.write(std::string_view{"new"});
      file.commit();
    };
    EXPECT_THROW(replace(), Error) << step;
    EXPECT_EQ(read_file(path), step == std::string{"sync_directory"} ? "new" : "old") << step;
    EXPECT_EQ(entries(), 1) << step;
  }
}

TEST_F(AtomicFileTest, AMissingDirectoryIsNamed) {
  const auto path = directory_ / "absent/a.txt";
  try {
    AtomicFile file{path};
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.where().object, path.string() + ".partial");
    EXPECT_NE(std::string{error.what()}.find("No such file or directory"), std::string::npos);
  }
}

TEST_F(AtomicFileTest, AFailedWriteSaysWhyAndLeavesNothing) {
  const auto path = directory_ / "a.bin";
  std::string problem;
  {
    const tests::FileSizeLimit limit{100'000};
    try {
      write_file_atomically(path, std::string(1'000'000, 'x'));
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  const auto partial = path.string() + ".partial";
  EXPECT_NE(problem.find(partial + ": cannot be written: File too large"), std::string::npos);
  EXPECT_EQ(entries(), 0);
}

TEST_F(AtomicFileTest, ADeviceOrAPipeIsNotReplaced) {
  const auto path = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  fs::create_symlink("pipe", directory_ / "link");
  for (const auto& target : {path, directory_ / "link", fs::path{"/dev/null"}}) {
    const auto problem = tests::problem_of([&] { write_file_atomically(target, "x"); });
    EXPECT_EQ(problem, target.string() + ": is not a regular file; name another place");
  }
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(entries(), 2);
}

TEST_F(AtomicFileTest, APipeWithTheNameOfAPartialFileIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((directory_ / "a.partial").c_str(), 0600), 0);
  const auto problem = tests::problem_of([&] { write_file_atomically(directory_ / "a", "x"); });
  EXPECT_NE(problem.find("a.partial: cannot be written: "), std::string::npos) << problem;
}

TEST_F(AtomicFileTest, ADirectoryIsNotReplaced) {
  const auto path = directory_ / "taken";
  fs::create_directory(path);
  EXPECT_THROW(write_file_atomically(path, "x"), Error);
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace seqtrain
