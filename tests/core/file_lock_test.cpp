#include <atomic>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include <seqtrain/core/file_lock.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

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
