#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/hub/push_file.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {
namespace {

TEST(HubPushFile, FilesOfAFolderAreSortedWithTheirSizes) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "b/c");
  write_file(directory / "b/c/deep", "deep");
  write_file(directory / "a", "");
  const auto files = hub::files_to_push(directory.path());
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "a");
  EXPECT_EQ(files[0].content().text(), "");
  EXPECT_EQ(files[1].path, "b/c/deep");
  EXPECT_EQ(files[1].size, 4U);
  EXPECT_EQ(files[1].content().text(), "deep");
}

TEST(HubPushFile, AFolderNeedsOneTo256Files) {
  const TemporaryDirectory directory;
  const auto problem = [&](const std::filesystem::path& folder) {
    return problem_of([&] { (void)hub::files_to_push(folder); });
  };
  EXPECT_NE(problem(directory / "none").find("No such file"), std::string::npos);
  EXPECT_NE(problem(directory.path()).find("has no files to push"), std::string::npos);
  for (int i = 0; i < 257; ++i) write_file(directory / std::to_string(i), "");
  EXPECT_NE(problem(directory.path()).find("more than 256 files"), std::string::npos);
}

TEST(HubPushFile, HashesAreThoseOfTheHub) {
  const TemporaryDirectory directory;
  hub::PushFile file{.path = "f", .file = write_file(directory / "f", "hello\n"), .size = 6};
  EXPECT_EQ(file.compute_hash(), "ce013625030ba8dba906f756967f9e9ca394464a");
  file.is_large = true;
  EXPECT_EQ(file.compute_hash(),
            "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
  file = {.path = "e", .file = write_file(directory / "e", ""), .size = 0};
  EXPECT_EQ(file.compute_hash(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

TEST(HubPushFile, AFileMayNotChangeItsSize) {
  const TemporaryDirectory directory;
  const hub::PushFile file{.path = "f", .file = write_file(directory / "f", "ab"), .size = 1};
  EXPECT_NE(problem_of([&] { (void)file.content(); }).find("changed its size"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::tests
