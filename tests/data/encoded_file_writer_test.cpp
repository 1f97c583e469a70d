#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/encoded_file_writer.hpp>

#include "support/file_size_limit.hpp"
#include "support/letter_tokenizer.hpp"
#include "support/problem_of.hpp"
#include "support/row_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

using Ids = std::vector<std::int32_t>;
using tests::row_of;

const EncodedSet empty_set{303, 302};

EncodedFile open(const std::filesystem::path& path) {
  return open_encoded_file(path, tests::LetterTokenizer{}, Labels::nli());
}

TEST(EncodedFileWriter, JoinsParts) {
  const tests::TemporaryDirectory directory;
  EncodedFileWriter writer{directory / "set", empty_set, 3};
  writer.append(empty_set);
  EncodedSet expected = empty_set;
  for (std::int32_t i = 0; i < 100; ++i) {
    EncodedSet part = empty_set;
    for (std::int32_t row = 0; row < i % 5; ++row) {
      part.push_back(Ids(static_cast<std::size_t>(row), i), 0, row % 3);
    }
    writer.append(part);
    expected.append(part);
  }
  EXPECT_EQ(writer.size(), expected.size());
  EXPECT_FALSE(std::filesystem::exists(directory / "set"));
  writer.commit(expected.size() - 1, 7);
  const EncodedFile opened = open(directory / "set");
  EXPECT_EQ(opened.total, expected.size());
  EXPECT_EQ(opened.left_out, 7u);
  ASSERT_EQ(opened.set.size(), expected.size() - 1);
  std::size_t longest = 0;
  for (std::size_t row = 0; row < opened.set.size(); ++row) {
    ASSERT_EQ(row_of(opened.set, row), row_of(expected, row));
    ASSERT_EQ(opened.set.label(row), expected.label(row));
    longest += expected.length(row) == 3 ? 1 : 0;
  }
  EXPECT_EQ(opened.at_max_length(), longest);
}

TEST(EncodedFileWriter, LeavesNothingUnlessItCommits) {
  const tests::TemporaryDirectory directory;
  { EncodedFileWriter{directory / "set", empty_set, 3}.append(empty_set); }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(EncodedFileWriter, SaysThatTheDiskIsFull) {
  const tests::TemporaryDirectory directory;
  const auto path = directory / "set";
  EncodedSet part = empty_set;
  for (int row = 0; row < 40'000; ++row) part.push_back(Ids(8, 1), 8, 0);
  // The ids, the rows, or all together exceed the limit.
  for (const std::size_t limit : {100'000, 640'100, 700'000, 1'000'000}) {
    const std::string problem = tests::problem_of([&] {
      const tests::FileSizeLimit full{limit};
      EncodedFileWriter writer{path, empty_set, 3};
      writer.append(part);
      writer.commit(part.size(), 0);
    });
    EXPECT_TRUE(problem.starts_with(path.string())) << problem;
    EXPECT_NE(problem.find(": cannot be written: File too large; `ulimit -f` allows a file only " +
                           std::to_string(limit) + " bytes"),
              std::string::npos)
        << problem;
    EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << limit;
  }
}

}  // namespace
}  // namespace seqtrain::data
