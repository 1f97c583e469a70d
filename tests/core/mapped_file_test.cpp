#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/core/mapped_file.hpp>

#include "support/temporary_file.hpp"

namespace seqtrain {
namespace {

using tests::TemporaryFile;

std::string problem_of(const std::filesystem::path& file) {
  try {
    const MappedFile mapped{file};
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().object, file.string());
    return error.what();
  }
  return "none";
}

TEST(MappedFile, ShowsTheBytes) {
  const TemporaryFile file{"two\nlines"};
  const MappedFile mapped{file.path()};
  EXPECT_EQ(mapped.text(), "two\nlines");
  EXPECT_EQ(mapped.size(), 9u);
  EXPECT_EQ(mapped.bytes()[3], std::byte{'\n'});
}

TEST(MappedFile, StaysReadableWhenForgotten) {
  std::string content(100'000, 'x');
  content += "end";
  const TemporaryFile file{content};
  const MappedFile mapped{file.path()};
  mapped.forget(mapped.text());
  mapped.forget(mapped.text().substr(1, 10));
  mapped.forget({});
  EXPECT_EQ(mapped.text(), content);
}

TEST(MappedFile, WritingToItsMemoryDoesNotChangeTheFile) {
  const TemporaryFile file{"three"};
  const MappedFile mapped{file.path(), MappedFile::Pages::writable};
  *const_cast<char*>(mapped.text().data()) = 'T';
  EXPECT_EQ(mapped.text(), "Three");
  EXPECT_EQ(MappedFile{file.path()}.text(), "three");
}

TEST(MappedFile, MovesItsMapping) {
  const TemporaryFile first{"first"};
  const TemporaryFile second{"second"};
  MappedFile a{first.path()};
  MappedFile b{std::move(a)};
  EXPECT_EQ(b.text(), "first");
  b = MappedFile{second.path()};
  EXPECT_EQ(b.text(), "second");
}

TEST(MappedFile, RefusesWhatIsNoFileWithBytes) {
  const TemporaryFile empty{""};
  EXPECT_NE(problem_of(empty.path()).find("is empty"), std::string::npos);
  EXPECT_NE(problem_of("no/such/file").find("No such file"), std::string::npos);
  EXPECT_NE(problem_of(std::filesystem::temp_directory_path()).find("directory"),
            std::string::npos);
  EXPECT_NE(problem_of("/dev/null").find("regular"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain
