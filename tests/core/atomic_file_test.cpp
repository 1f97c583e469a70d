#include <csignal>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <seqtrain/core/atomic_file.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

namespace fs = std::filesystem;

using tests::read_file;

class AtomicFileTest : public testing::Test {
 protected:
  /// How many files there are in the test's directory.
  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator{directory_.path()}, {});
  }

  tests::TemporaryDirectory directory_;
};

/// No file of this process grows beyond `bytes` while it lives: what a full disk looks like.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_{std::signal(SIGXFSZ, SIG_IGN)} {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_{};
  void (*handler_)(int);
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

TEST_F(AtomicFileTest, AMissingDirectoryIsNamed) {
  const auto path = directory_ / "absent/a.txt";
  try {
    AtomicFile file{path};
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.where().object, path.string());
    EXPECT_NE(std::string{error.what()}.find("No such file or directory"), std::string::npos);
  }
}

TEST_F(AtomicFileTest, AFailedWriteSaysWhyAndLeavesNothing) {
  const auto path = directory_ / "a.bin";
  std::string problem;
  {
    const FileSizeLimit limit{100'000};
    try {
      write_file_atomically(path, std::string(1'000'000, 'x'));
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  EXPECT_NE(problem.find(path.string() + ": cannot be written: File too large"), std::string::npos);
  EXPECT_EQ(entries(), 0);
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
