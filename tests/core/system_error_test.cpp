#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include <seqtrain/core/system_error.hpp>

#include "support/file_size_limit.hpp"

namespace seqtrain {
namespace {

std::string message(int number) {
  return system_error("cannot be written", "a/file", number).what();
}

TEST(SystemError, SaysWhatWhereAndWhatToDo) {
  EXPECT_EQ(message(ENOSPC),
            "a/file: cannot be written: No space left on device; make room there, or name another "
            "place");
  EXPECT_EQ(message(ENOENT), "a/file: cannot be written: No such file or directory");
  EXPECT_NE(message(EMFILE).find("ulimit -n"), std::string::npos);
  EXPECT_NE(message(ELOOP).find("links lead in a circle"), std::string::npos);
  EXPECT_NE(message(EACCES).find("permissions"), std::string::npos);
  errno = EISDIR;
  const auto of_errno = system_error<InputError>("cannot be read", "a");
  EXPECT_STREQ(of_errno.what(), "a: cannot be read: Is a directory");
}

TEST(SystemError, NamesTheLimitOfAFilesSize) {
  EXPECT_NE(message(EFBIG).find("larger files"), std::string::npos);
  const tests::FileSizeLimit limit{100'000};
  EXPECT_NE(message(EFBIG).find("`ulimit -f` allows a file only 100000 bytes: raise it"),
            std::string::npos)
      << message(EFBIG);
}

TEST(SentenceOf, NamesThePathOfAnErrorOfTheFileSystem) {
  const std::filesystem::filesystem_error error{
      "status", "a/loop", std::make_error_code(std::errc::too_many_symbolic_link_levels)};
  EXPECT_EQ(sentence_of(error),
            "a/loop: cannot be used: Too many levels of symbolic links; its symbolic links lead in "
            "a circle");
  EXPECT_TRUE(is_about_a_wrong_path(error));
  const std::filesystem::filesystem_error full{"rename", "a",
                                               std::make_error_code(std::errc::no_space_on_device)};
  EXPECT_FALSE(is_about_a_wrong_path(full));
}

TEST(SentenceOf, SaysThatAThreadCannotBeStarted) {
  const std::system_error error{std::make_error_code(std::errc::resource_unavailable_try_again)};
  EXPECT_EQ(sentence_of(error).find("a thread cannot be started: Resource temporarily unavail"),
            0U);
  EXPECT_NE(sentence_of(error).find("--threads"), std::string::npos);
}

TEST(SentenceOf, HasNoStackTrace) {
  const std::runtime_error torch{
      "fake does not support events\nException raised from record at x.cpp:1 (most recent call "
      "first):\nframe #0: c10::Error"};
  EXPECT_EQ(sentence_of(torch),
            "LibTorch fails: fake does not support events; another --device or --precision may "
            "work");
  const std::runtime_error shapes{
      "mat1 and mat2 shapes cannot be multiplied\nException raised from mm at x.cpp:1"};
  EXPECT_EQ(sentence_of(shapes), "LibTorch fails: mat1 and mat2 shapes cannot be multiplied");
  EXPECT_EQ(sentence_of(std::runtime_error{"two\nlines"}), "two\nlines");
}

}  // namespace
}  // namespace seqtrain
