#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <seqtrain/core/files.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

namespace fs = std::filesystem;

using tests::read_file;
using tests::write_file;

std::span<const std::byte> bytes_in(std::string_view text) {
  return std::as_bytes(std::span{text});
}

class FilesTest : public testing::Test {
 protected:
  void write(const fs::path& path, std::string_view text) {
    auto file = files_.create(path);
    files_.write(*file, bytes_in(text));
  }

  tests::TemporaryDirectory directory_;
  const fs::path path_ = directory_ / "a";
  Files files_;
};

TEST_F(FilesTest, WritesAtTheEndAndAtAPlace) {
  auto file = files_.create(write_file(path_, "an old text that is longer"));
  ASSERT_TRUE(file);
  files_.write(*file, bytes_in("one "));
  files_.write(*file, bytes_in("two"));
  files_.write_at(*file, 1, bytes_in("NE"));
  files_.sync(*file);
  files_.close(*file);
  EXPECT_EQ(read_file(path_), "oNE two");
}

TEST_F(FilesTest, OneLiveWriterHasAFile) {
  auto first = files_.create(path_);
  files_.write(*first, bytes_in("text"));
  EXPECT_FALSE(files_.create(path_));
  EXPECT_EQ(read_file(path_), "text");
  const auto moved = *std::move(first);
  first.reset();
  EXPECT_FALSE(files_.create(path_));
}

TEST_F(FilesTest, AClosedFileIsFreeForTheNextWriter) {
  auto first = files_.create(path_);
  files_.close(*first);
  EXPECT_TRUE(files_.create(path_));
  EXPECT_TRUE(files_.create(path_));  // the destructor of the last one closed it
}

TEST_F(FilesTest, CreateTakesTheFileThatHasTheName) {
  auto first = files_.create(path_);
  files_.write(*first, bytes_in("text"));
  files_.rename(path_, directory_ / "b");
  auto second = files_.create(path_);
  ASSERT_TRUE(second);
  files_.write(*second, bytes_in("more"));
  EXPECT_EQ(read_file(directory_ / "b"), "text");
  EXPECT_EQ(read_file(path_), "more");
}

TEST_F(FilesTest, RemovesFilesAndEmptyDirectories) {
  write(path_, "text");
  EXPECT_TRUE(files_.remove(path_));
  EXPECT_FALSE(files_.remove(path_));
  EXPECT_FALSE(files_.remove(directory_ / "absent/deeper"));
  EXPECT_TRUE(files_.make_directory(path_));
  write(path_ / "file", "");
  EXPECT_FALSE(files_.remove(path_ / "file/deeper"));
  EXPECT_THROW(files_.remove(path_), Error);
  files_.remove(path_ / "file");
  EXPECT_TRUE(files_.remove(path_));
}

TEST_F(FilesTest, MakesOneDirectory) {
  EXPECT_TRUE(files_.make_directory(path_));
  EXPECT_FALSE(files_.make_directory(path_));
  EXPECT_THROW(files_.make_directory(directory_ / "absent/deeper"), Error);
  EXPECT_NO_THROW(files_.sync_directory(path_));
  EXPECT_THROW(files_.sync_directory(directory_ / "absent"), Error);
}

TEST_F(FilesTest, ListsByName) {
  for (const char* name : {"b", "a", ".c", "Z"}) write(directory_ / name, "");
  files_.make_directory(directory_ / "aa");
  std::string names;
  for (const auto& entry : files_.list(directory_.path())) {
    names += entry.name + (entry.is_directory ? "/ " : " ");
  }
  EXPECT_EQ(names, ".c Z a aa/ b ");
  EXPECT_TRUE(files_.list(directory_ / "absent").empty());
  EXPECT_TRUE(files_.list(directory_ / "a").empty());
}

TEST_F(FilesTest, WhatWasReadLivesOn) {
  const std::string text(100'000, 'x');
  write(path_, text);
  auto read = files_.read(path_);
  const SharedBytes copy = *read;
  read.reset();
  files_.remove(path_);
  EXPECT_EQ(copy.text(), text);
}

TEST_F(FilesTest, ReadsWhatIsEmptyAndNothingWhereThereIsNone) {
  write(path_, "");
  EXPECT_EQ(files_.read(path_)->text(), "");
  EXPECT_FALSE(files_.read(directory_ / "absent"));
  EXPECT_FALSE(files_.read(path_ / "deeper"));
  EXPECT_FALSE(files_.read(directory_.path()));
  ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  EXPECT_THROW((void)files_.read(directory_ / "pipe"), Error);
}

TEST_F(FilesTest, AStampChangesWithTheFile) {
  EXPECT_EQ(files_.stamp(path_), 0U);
  write(path_, "text");
  const auto first = files_.stamp(path_);
  EXPECT_EQ(files_.stamp(path_), first);
  write(directory_ / "b", "text");
  files_.rename(directory_ / "b", path_);
  EXPECT_NE(files_.stamp(path_), first);
}

TEST_F(FilesTest, OneAtATimeHasALock) {
  auto lock = files_.try_lock(path_);
  ASSERT_TRUE(lock);
  EXPECT_FALSE(files_.try_lock(path_));
  lock.reset();
  EXPECT_TRUE(files_.try_lock(path_));
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(FilesTest, ErrorsNameThePathAndTheReason) {
  const auto absent = directory_ / "absent/a";
  const auto problem = tests::problem_of([&] { (void)files_.create(absent); });
  EXPECT_EQ(problem, absent.string() + ": cannot be written: No such file or directory");
  EXPECT_THROW(files_.rename(absent, path_), Error);
  EXPECT_THROW((void)files_.try_lock(absent), Error);
  EXPECT_THROW((void)files_.create(directory_.path()), Error);
}

TEST(FileLock, OneAtATimeHasIt) {
  const tests::TemporaryDirectory directory;
  const auto file = directory / "lock";
  auto first = FileLock::attempt(file);
  ASSERT_TRUE(first);
  EXPECT_FALSE(FileLock::attempt(file));
  const FileLock moved = *std::move(first);
  first.reset();
  EXPECT_FALSE(FileLock::attempt(file));
}

TEST(FileLock, WaitsAndSaysSo) {
  const tests::TemporaryDirectory directory;
  const auto file = directory / "lock";
  std::optional<FileLock> first{file};
  std::atomic<bool> waited{false};
  const auto log = [&](std::string_view line) {
    EXPECT_EQ(line, "waiting for another process that holds " + file.string());
    waited = true;
  };
  std::thread second{[&] { const FileLock lock{file, log}; }};
  while (!waited) std::this_thread::yield();
  first.reset();
  second.join();
  EXPECT_TRUE(FileLock::attempt(file));
}

TEST(FileLock, RefusesWhatCannotBeLocked) {
  const tests::TemporaryDirectory directory;
  EXPECT_THROW(FileLock{directory / "absent/lock"}, Error);
  EXPECT_THROW((void)FileLock::attempt(directory / "absent/lock"), Error);
}

}  // namespace
}  // namespace seqtrain
