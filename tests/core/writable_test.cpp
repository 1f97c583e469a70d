#include <filesystem>

#include <gtest/gtest.h>

#include <seqtrain/core/writable.hpp>

#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

TEST(CheckWritable, LeavesNothingBehind) {
  const TemporaryDirectory directory;
  EXPECT_NO_THROW(check_writable(directory.path()));
  EXPECT_NO_THROW(check_writable(directory / "not/there/yet"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CheckWritable, TakesRelativePaths) {
  EXPECT_NO_THROW(check_writable("not_there_yet"));
  EXPECT_FALSE(std::filesystem::exists("not_there_yet"));
}

TEST(CheckWritable, RefusesWhatIsNoDirectory) {
  const TemporaryDirectory directory;
  const auto file = write_file(directory / "file", "");
  EXPECT_THROW(check_writable(file), InputError);
  EXPECT_THROW(check_writable(file / "below/it"), InputError);
}

TEST(CheckWritable, RefusesWhatTheSystemRefuses) {
  if (!std::filesystem::is_directory("/proc/self")) GTEST_SKIP() << "no /proc here";
  EXPECT_THROW(check_writable("/proc/self"), InputError);
}

}  // namespace
}  // namespace seqtrain::tests
