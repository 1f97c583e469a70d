#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/cli/predict_input.hpp>

#include "support/compressed.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::cli {
namespace {

std::string all_of(PredictInput input) {
  std::string text;
  std::array<char, 7> some{};
  while (const auto count = input.read(some)) text.append(some.data(), count);
  return text;
}

TEST(PredictInputTest, ReadsPlainAndCompressedFiles) {
  const tests::TemporaryDirectory directory;
  const std::string text = "text\nA good film\nTwo hours\n";
  for (const std::string& bytes : {text, tests::gzipped(text), tests::zstd_compressed(text)}) {
    const auto file = tests::write_file(directory / "new", bytes);
    auto input = PredictInput::of_file(file.string());
    EXPECT_EQ(input.beginning(), text);
    EXPECT_TRUE(input.ready());
    EXPECT_EQ(all_of(std::move(input)), text);
  }
}

TEST(PredictInputTest, NamesADamagedArchiveAndAFileThatIsNotThere) {
  const tests::TemporaryDirectory directory;
  const auto file = tests::write_file(directory / "new.gz", "no archive");
  EXPECT_NE(tests::problem_of([&] {
              (void)PredictInput::of_file(file.string()).beginning();
            }).find("new.gz: cannot be decompressed at byte "),
            std::string::npos);
  EXPECT_NE(tests::problem_of([&] {
              (void)PredictInput::of_file((directory / "none").string());
            }).find("none: cannot be read"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::cli
