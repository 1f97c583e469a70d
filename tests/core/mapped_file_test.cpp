#include <chrono>
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

TEST(MappedFile, KeepsTheBytesOfASmallFileThatIsRewritten) {
  const TemporaryFile file{"before"};
  const MappedFile mapped{file.path()};
  mapped.forget(mapped.text());
  std::ofstream{file.path()} << "after";
  EXPECT_EQ(mapped.text(), "before");
}

/// A file that is larger than what is copied.
class LargeFile : public testing::Test {
 protected:
  [[nodiscard]] MappedFile watched() const {
    return MappedFile{file_.path(), MappedFile::Pages::read_only, MappedFile::Changes::watched};
  }

  static std::string problem_of(const MappedFile& mapped) {
    try {
      mapped.check_unchanged();
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  const std::string content_ = std::string(MappedFile::most_copied, 'x') + "end";
  const TemporaryFile file_{content_};
  const std::string changed_ = file_.path().string() +
                               ": was changed while it was read; write a new file beside it, then "
                               "rename it with mv";
};

TEST_F(LargeFile, IsUnchangedWhereNobodyWritesToIt) {
  const auto mapped = watched();
  EXPECT_EQ(mapped.text(), content_);
  EXPECT_EQ(problem_of(mapped), "none");
}

TEST_F(LargeFile, IsUnchangedWhereAnotherTakesItsName) {
  const auto mapped = watched();
  const TemporaryFile other{"other"};
  std::filesystem::copy_file(other.path(), file_.path().string() + ".new");
  std::filesystem::rename(file_.path().string() + ".new", file_.path());
  EXPECT_EQ(mapped.text(), content_);
  EXPECT_EQ(problem_of(mapped), "none");
}

TEST_F(LargeFile, ReadsAsZerosWhereItWasShortened) {
  const auto mapped = watched();
  std::filesystem::resize_file(file_.path(), 100);
  EXPECT_EQ(mapped.text()[99], 'x');
  EXPECT_EQ(mapped.text().back(), '\0');
  EXPECT_EQ(problem_of(mapped), changed_);
}

TEST_F(LargeFile, TellsThatItWasShortenedForAWhile) {
  const auto mapped = watched();
  const auto time = std::filesystem::last_write_time(file_.path());
  std::filesystem::resize_file(file_.path(), 0);
  EXPECT_EQ(mapped.text().front(), '\0');
  std::ofstream{file_.path()} << content_;
  std::filesystem::last_write_time(file_.path(), time);
  EXPECT_EQ(problem_of(mapped), changed_);
}

TEST_F(LargeFile, TellsThatItWasRewritten) {
  const auto mapped = watched();
  const auto time = std::filesystem::last_write_time(file_.path());
  std::fstream{file_.path()} << "X";
  std::filesystem::last_write_time(file_.path(), time + std::chrono::seconds{1});
  EXPECT_EQ(problem_of(mapped), changed_);
}

TEST_F(LargeFile, ThatChangesIsTheReasonOfWhatItsReaderFindsWrong) {
  const auto mapped = watched();
  EXPECT_EQ(while_unchanged(mapped, [&] { return mapped.size(); }), content_.size());
  EXPECT_THROW(while_unchanged(mapped, [] { throw InputError{"wrong"}; }), InputError);
  std::filesystem::resize_file(file_.path(), 100);
  for (const bool finds_it_wrong : {false, true}) {
    try {
      while_unchanged(mapped, [&] {
        if (finds_it_wrong) throw InputError{"wrong"};
      });
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), changed_);
    }
  }
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
