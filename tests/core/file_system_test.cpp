#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/file_system.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

TEST(FileSystem, ItsErrorsNameThePathAndTheReason) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "file", "");
  const auto problem = tests::problem_of(
      [&] { with_file_errors([&] { std::filesystem::create_directories(file / "below"); }); });
  EXPECT_NE(problem.find(file.string()), std::string::npos) << problem;
  EXPECT_NE(problem.find("cannot be written: "), std::string::npos) << problem;
  EXPECT_THROW(with_file_errors([] { throw std::logic_error{"another"}; }), std::logic_error);
}

TEST(FileSystem, SyncsWhatIsADirectory) {
  const tests::TemporaryDirectory directory;
  EXPECT_EQ(sync_directory(directory.path()), 0);
  EXPECT_EQ(sync_directory(directory / "absent"), ENOENT);
  EXPECT_EQ(sync_directory(tests::write_file(directory / "file", "")), ENOTDIR);
}

TEST(FileSystem, SyncsFilesAndTrees) {
  const tests::TemporaryDirectory directory;
  EXPECT_EQ(sync_file(tests::write_file(directory / "file", "text")), 0);
  EXPECT_EQ(sync_file(directory / "absent"), ENOENT);
  std::filesystem::create_directory(directory / "below");
  std::filesystem::create_symlink("absent", directory / "below/link");
  EXPECT_NO_THROW(sync_tree(directory.path()));
  EXPECT_THROW(sync_tree(directory / "absent"), std::filesystem::filesystem_error);
}

}  // namespace
}  // namespace seqtrain

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
  std::filesystem::create_symlink("nowhere", directory / "link");
  const auto link = (directory / "link").string();
  EXPECT_EQ(problem_of([&] { check_writable(directory / "link/below"); }),
            link + "/below: cannot be written: " + link + " is a link to nothing");
}

TEST(CheckWritable, RefusesWhatTheSystemRefuses) {
  if (!std::filesystem::is_directory("/proc/self")) GTEST_SKIP() << "no /proc here";
  EXPECT_THROW(check_writable("/proc/self"), InputError);
}

}  // namespace
}  // namespace seqtrain::tests
