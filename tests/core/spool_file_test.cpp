#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/spool_file.hpp>

#include "support/file_size_limit.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain {
namespace {

std::string text_of(SpoolFile& spool) {
  std::string text;
  spool.read([&](std::span<const std::byte> bytes) {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return text;
}

TEST(SpoolFile, GivesBackWhatWasWritten) {
  const tests::TemporaryDirectory directory;
  SpoolFile spool{directory / "target"};
  EXPECT_EQ(text_of(spool), "");
  std::string expected;
  for (int i = 0; i < 200'000; ++i) {
    const std::string word = std::to_string(i);
    spool.write(std::as_bytes(std::span{word}));
    expected += word;
  }
  const std::string large(1 << 20, 'x');
  spool.write(std::as_bytes(std::span{large}));
  EXPECT_EQ(text_of(spool), expected + large);
}

TEST(SpoolFile, HasNoName) {
  const tests::TemporaryDirectory directory;
  const SpoolFile spool{directory / "target"};
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(SpoolFile, NamesTheTargetOfWhatCannotBeWritten) {
  const tests::TemporaryDirectory directory;
  SpoolFile spool{directory / "target"};
  const tests::FileSizeLimit limit{1'000};
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(tests::problem_of([&] { spool.write(std::as_bytes(std::span{large})); }),
            (directory / "target").string() +
                ": cannot be written: File too large; `ulimit -f` allows a file only 1000 bytes: "
                "raise it");
  EXPECT_EQ(tests::problem_of([] { SpoolFile{"no/such/target"}; }),
            "no/such/target: cannot be written: No such file or directory");
}

}  // namespace
}  // namespace seqtrain
