#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/read_text.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

TEST(ReadText, ReturnsAllBytesWithRoomForMore) {
  const tests::TemporaryDirectory directory;
  const std::string content(100'000, 'x');
  const auto text = read_text(tests::write_file(directory / "file", content), 64);
  EXPECT_EQ(text, content);
  EXPECT_GE(text.capacity(), content.size() + 64);
  EXPECT_EQ(read_text(tests::write_file(directory / "empty", "")), "");
}

TEST(ReadText, RefusesAndDoesNotWaitForWhatIsNoRegularFile) {
  const tests::TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("loop", directory / "loop");
  const auto problem = [&](const std::filesystem::path& file) {
    const auto text = tests::problem_of([&] { (void)read_text(file); });
    EXPECT_EQ(tests::problem_of([&] { (void)json::Document::load(file); }), text);
    return text;
  };
  const std::string here = directory.path().string();
  EXPECT_EQ(problem(directory / "pipe"), here + "/pipe: is not a regular file");
  EXPECT_EQ(problem(directory.path()), here + ": is a directory, not a file");
  EXPECT_EQ(problem(directory / "none"), here + "/none: cannot be read: No such file or directory");
  EXPECT_EQ(problem(directory / "loop"),
            here +
                "/loop: cannot be read: Too many levels of symbolic links; its symbolic links "
                "lead in a circle");
}

}  // namespace
}  // namespace seqtrain
