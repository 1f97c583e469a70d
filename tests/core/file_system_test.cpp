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
