#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/storage/list.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::storage {
namespace {

using namespace tests;

TEST(ListStorage, GoesTwoFoldersDeepInADirectory) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "a/b/c");
  for (const char* name : {"x", "a/x", "a/b/x", "a/b/c/x"}) write_file(directory / name, "");
  EXPECT_EQ(list(directory.path().string(), {log::Log{}}), (Names{"x", "a/x", "a/b/x"}));
}

TEST(ListStorage, HasAllFilesOfAnotherStorage) {
  const Options options{
      log::Log{},
      {{.form = "shelf://folder",
        .has = begins_with("shelf://"),
        .list =
            [](const std::string& folder, const log::Log&) {
              return Names{folder, "a/b/c/x"};
            },
        .fetch = [](const std::string& place, const log::Log&) { return place; }}}};
  EXPECT_EQ(list("shelf://a", options), (Names{"a/b/c/x", "shelf://a"}));
}

TEST(ListStorage, SaysWhatCannotBeListed) {
  const TemporaryDirectory directory;
  const std::string absent = (directory / "absent").string();
  EXPECT_EQ(problem_of([&] { (void)list(absent, {log::Log{}}); }),
            absent + ": cannot be read: No such file or directory");
  EXPECT_NE(problem_of([] { (void)list("az://b", {log::Log{}}); }).find("is not in a storage"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::storage
