#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/choose_labels.hpp>
#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/encode_file_with.hpp>
#include <seqtrain/data/text_folder.hpp>

#include "support/letter_tokenizer.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

using tests::LetterTokenizer;
using tests::problem_of;
using Names = std::vector<std::string>;

class TextFolderTest : public testing::Test {
 protected:
  /// Writes a file into the folder of a label.
  void add(const std::string& label, const std::string& name, std::string_view text) {
    std::filesystem::create_directories(directory_ / label);
    tests::write_file(directory_.path() / label / name, text);
  }

  /// Returns `label|text` of all examples, read in parts of about `bytes`.
  [[nodiscard]] Names read(std::size_t bytes = 1) const {
    Names found;
    const TextFolder folder{directory_.path()};
    for (const auto& part : folder.parts(bytes)) {
      folder.read(part, [&](const Example& example) {
        EXPECT_FALSE(example.text_pair);
        found.push_back(std::string{*example.label} + "|" + std::string{example.text});
      });
    }
    return found;
  }

  [[nodiscard]] std::string problem() const {
    return problem_of([this] { (void)read(); });
  }

  [[nodiscard]] std::string path(const std::string& relative) const {
    return (directory_.path() / relative).string();
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(TextFolderTest, TakesLabelsFromFoldersAndTextsAsTheyAre) {
  add("pos", "0_9.txt", "Good.<br /><br />\"Very\",\r\n\tgood!\n");
  add("neg", "0_3.txt", "Bad \xC3\xA9 {");
  EXPECT_EQ(read(), (Names{"neg|Bad \xC3\xA9 {", "pos|Good.<br /><br />\"Very\",\r\n\tgood!\n"}));
}

TEST_F(TextFolderTest, KeepsAnEmptyText) {
  add("neg", "a.txt", "");
  add("pos", "a.txt", "");
  add("pos", "b.txt", "x");
  EXPECT_EQ(read(), (Names{"pos|", "neg|", "pos|x"}));
  const auto set = encode_file(directory_.path(), LetterTokenizer{}, Labels{{"neg", "pos"}}).set;
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set.length(0), 2u);  // only the special tokens
  EXPECT_EQ(set.label(0), 1);
}

TEST_F(TextFolderTest, LeavesAloneWhatIsNoLabelledText) {
  add("neg", "a.txt", "n");
  add("neg", "a.feat", "0:1");
  add("neg", ".a.txt", "\xff");
  add("pos", "a.txt", "p");
  add("unsup", "a.txt", "u");
  add("empty", "notes", "");
  add(".hidden", "a.txt", "h");
  tests::write_file(directory_ / "urls_pos.txt", "http://");
  EXPECT_EQ(read(), (Names{"neg|n", "pos|p"}));
  EXPECT_EQ(find_labels(TextFolder{directory_.path()}).names(), (Names{"neg", "pos"}));
}

TEST_F(TextFolderTest, MixesLabelsInTheirProportions) {
  for (const char* name : {"10_1", "2_1", "0_1", "1_1"})
    add("neg", std::string{name} + ".txt", name);
  for (const char* name : {"b", "a"}) add("pos", std::string{name} + ".txt", name);
  EXPECT_EQ(read(), (Names{"neg|0_1", "pos|a", "neg|10_1", "neg|1_1", "pos|b", "neg|2_1"}));
}

TEST_F(TextFolderTest, CutsIntoPartsOfNeighbours) {
  Names texts;
  for (int i = 0; i < 20; ++i) {
    const std::string text(static_cast<std::size_t>(i), 'x');
    add(i % 2 == 0 ? "neg" : "pos", std::to_string(100 + i) + ".txt", text);
  }
  const TextFolder folder{directory_.path()};
  EXPECT_EQ(folder.bytes(), 190u);
  EXPECT_EQ(folder.parts(1'000).size(), 1u);
  const auto parts = folder.parts(30);
  EXPECT_GT(parts.size(), 3u);
  std::size_t next = 0;
  for (const auto& part : parts) {
    EXPECT_EQ(part.first, next);
    EXPECT_GT(part.end, part.first);
    next = part.end;
  }
  EXPECT_EQ(next, 20u);
  EXPECT_EQ(TextFolder::end_of(parts.back()), folder.bytes());
  EXPECT_EQ(read(30), read(1));
}

TEST_F(TextFolderTest, SaysWhatCannotBeRead) {
  EXPECT_EQ(problem(), path("").substr(0, path("").size() - 1) +
                           ": holds no example; texts lie in it as <label>/<name>.txt");
  add("neg", "a.txt", "one\ntw\xff");
  EXPECT_EQ(problem(),
            path("neg/a.txt") +
                ":2: not valid UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8 old > new");
  std::filesystem::remove(path("neg/a.txt"));
  std::filesystem::create_symlink("nowhere", path("neg/b.txt"));
  EXPECT_NE(problem().find("neg/b.txt: "), std::string::npos) << problem();
  EXPECT_THROW(TextFolder{path("none")}, InputError);
}

TEST_F(TextFolderTest, RefusesADirectoryNamedAsAText) {
  std::filesystem::create_directories(path("neg/a.txt"));
  EXPECT_NE(problem().find("neg/a.txt: "), std::string::npos) << problem();
}

TEST_F(TextFolderTest, RefusesALabelThatIsNotUtf8) {
  add("n\xff", "a.txt", "x");
  EXPECT_NE(problem().find("not valid UTF-8"), std::string::npos) << problem();
}

TEST_F(TextFolderTest, GivesLabelsTheirIds) {
  add("pos", "a.txt", "p");
  EXPECT_NE(problem_of([&] {
              choose_labels({}, {}, directory_.path(), {});
            }).find("has fewer than two different labels"),
            std::string::npos);
  add("neg", "a.txt", "n");
  EXPECT_EQ(choose_labels({}, {}, directory_.path(), {}).names(), (Names{"neg", "pos"}));
  EXPECT_EQ(choose_labels({}, {"pos", "neg"}, directory_.path(), {}).names(),
            (Names{"pos", "neg"}));
  EXPECT_EQ(
      problem_of([&] {
        encode_file(directory_.path(), LetterTokenizer{}, Labels{{"no", "pos"}});
      }),
      path("neg") + ": unknown label 'neg'; known are: no, pos; --labels names them in order");
}

TEST_F(TextFolderTest, JoinsLabelsThatAreAlikeIfAsked) {
  add("Good", "a.txt", "g");
  add("good", "a.txt", "g");
  add("good", "b.txt", "g");
  add("bad", "a.txt", "b");
  EXPECT_EQ(find_labels(TextFolder{directory_.path()}).names(), (Names{"Good", "bad", "good"}));
  std::string joined;
  const auto labels = choose_labels(
      {}, {}, directory_.path(), {},
      [&](const auto& spellings, const auto& name) { joined = name + ": " + to_text(spellings); });
  EXPECT_EQ(labels.names(), (Names{"bad", "good"}));
  EXPECT_EQ(joined, "good: 'good' (2), 'Good' (1)");
  const auto set = encode_file(directory_.path(), LetterTokenizer{}, labels).set;
  EXPECT_EQ(std::ranges::count(set.arrays().labels, 1), 3);
}

TEST_F(TextFolderTest, IsEncodedTheSameAtAnyNumberOfWorkers) {
  for (int i = 0; i < 400; ++i) {
    const std::string text(static_cast<std::size_t>(i * 7 % 1'000),
                           static_cast<char>('a' + i % 26));
    add(i % 3 == 0 ? "neg" : "pos", std::to_string(i) + ".txt", text);
  }
  const Labels labels{{"neg", "pos"}};
  const auto ids = [&](std::size_t workers, double fraction) {
    std::size_t last = 0;
    const auto progress = [&last](const EncodeProgress& now) { last = now.bytes; };
    const auto file = encode_file(directory_.path(), LetterTokenizer{}, labels,
                                  {.fraction = fraction, .workers = workers, .progress = progress});
    EXPECT_EQ(file.total, 400u);
    EXPECT_EQ(last, TextFolder{directory_.path()}.bytes());
    std::vector<std::int32_t> all;
    for (std::size_t row = 0; row < file.set.size(); ++row) {
      all.push_back(-1 - file.set.label(row));
      all.resize(all.size() + file.set.length(row));
      file.set.copy_row(row, all.data() + all.size() - file.set.length(row));
    }
    return all;
  };
  EXPECT_EQ(ids(1, 1), ids(3, 1));
  const auto half = ids(2, 0.5);
  EXPECT_EQ(std::ranges::count(half, -1), 67);  // half of 134, as in the whole set
}

}  // namespace
}  // namespace seqtrain::data
