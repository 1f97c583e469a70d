#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/data/text_files.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

TEST(TextFiles, AreReadInTheOrderOfTheirPaths) {
  const tests::TemporaryDirectory directory;
  for (const char* name : {"b.txt", "pos/2.txt", "pos/1.txt", "a.md", ".hidden/1.txt",
                           "pos/deep/1.txt", "empty.txt"}) {
    std::filesystem::create_directories((directory / name).parent_path());
    tests::write_file(directory / name, std::string{name} == "empty.txt" ? "" : name);
  }
  tests::write_file(directory / "c.txt", "\xff");
  std::string seen;
  TextFiles files{directory.path()};
  const auto visit = [&](const Example& example) {
    seen += std::to_string(TextFiles::line_of(example)) + std::string{example.kept.front().text} +
            "=" + std::string{example.text} + " ";
  };
  const auto wrong = [&](const InputError& error) {
    seen +=
        std::string{error.what()}.find("c.txt:1: not valid UTF-8") != std::string::npos ? "!" : "?";
  };
  while (files.read(visit, wrong)) {
  }
  EXPECT_EQ(seen, "1b.txt=b.txt !3empty.txt= 4pos/1.txt=pos/1.txt 5pos/2.txt=pos/2.txt ");
  EXPECT_EQ(files.records(), 5);
}

TEST(TextFiles, RefusesADirectoryWithoutATextOrThatCannotBeListed) {
  const tests::TemporaryDirectory directory;
  EXPECT_NE(tests::problem_of([&] {
              TextFiles{directory.path()};
            }).find("holds no text; a text is a file whose name ends in .txt"),
            std::string::npos);
  EXPECT_NE(tests::problem_of([&] { TextFiles{directory / "none"}; }).find("No such file"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::data
