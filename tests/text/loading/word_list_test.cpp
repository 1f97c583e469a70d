#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <boost/crc.hpp>
#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/loading/word_list.hpp>

#include "support/problem_of.hpp"
#include "support/shared_data.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::text {
namespace {

using Words = std::vector<std::string>;

/// Returns the words between the marks and the filler words.
Words after_marks(const Words& words) {
  return {words.begin() + static_cast<std::ptrdiff_t>(Mark::all.size()),
          std::ranges::find(words, filler_word)};
}

TEST(WordCounts, OrdersByFrequencyThenByFirstOccurrence) {
  WordCounts counts;
  counts.add("b The a the b a the c c d");
  const auto words = counts.vocabulary({.at_least = 2});
  EXPECT_EQ(words[0], "xxunk");
  EXPECT_EQ(words[8], "xxmaj");
  EXPECT_EQ(after_marks(words), (Words{"the", "b", "a", "c"}));
}

TEST(WordCounts, KeepsTheMostFrequent) {
  WordCounts counts;
  counts.add("d a b a c b a c b a . .");
  EXPECT_EQ(after_marks(counts.vocabulary({.most = 11, .at_least = 1})), (Words{"a", "b"}));
  EXPECT_EQ(after_marks(counts.vocabulary()), (Words{"a", "b"}));
  EXPECT_THROW(static_cast<void>(counts.vocabulary({.most = 9})), InputError);
}

TEST(WordCounts, MergesPartsInTheOrderOfTheTexts) {
  WordCounts one, two, first, second;
  one.add("a b a");
  two.add("b c b. d e f g h");
  first.merge(one);
  first.merge(two);
  second.add("a b a");
  second.add("b c b. d e f g h");
  EXPECT_EQ(first.vocabulary({.at_least = 1}), second.vocabulary({.at_least = 1}));
  EXPECT_EQ(after_marks(first.vocabulary({.at_least = 1})),
            (Words{"b", "a", "c", ".", "d", "e", "f", "g", "h"}));
  EXPECT_EQ(after_marks(first.vocabulary({.at_least = 2})), (Words{"b", "a"}));
}

TEST(WordCounts, FillsUpToAMultipleOfEight) {
  const auto fillers = [](const std::string& text) {
    WordCounts counts;
    counts.add(text);
    return std::ranges::count(counts.vocabulary({.at_least = 1}), filler_word);
  };
  EXPECT_EQ(fillers(""), 7);
  EXPECT_EQ(fillers("a b c d e f"), 1);
  EXPECT_EQ(fillers("a b c d e f g"), 8);  // fastai's, too
  EXPECT_EQ(fillers("a b c d e f g xxfake xxfake"), 8);
}

/// Counts the words of a file of texts, one a line.
WordCounts counts_of(const std::filesystem::path& file) {
  WordCounts counts;
  std::istringstream lines{tests::read_file(file)};
  for (std::string line; std::getline(lines, line);) counts.add(line);
  return counts;
}

TEST(WordCounts, MakesTheVocabulariesOfFastai) {
  const auto golden = json::Document::load(tests::golden() / "vocabulary.json");
  const std::filesystem::path bundled =
      std::filesystem::path{SEQTRAIN_TESTS_DIR} / "../examples/data/languages";
  for (const auto& made : golden.root().at("bundled").items()) {
    Words expected;
    for (const auto& word : made.at("words").items()) expected.emplace_back(word.string());
    const auto most = static_cast<std::size_t>(made.at("most").integer());
    const auto at_least = static_cast<std::uint64_t>(made.at("at_least").integer());
    EXPECT_EQ(counts_of(bundled / made.at("file").string())
                  .vocabulary({.most = most, .at_least = at_least}),
              expected);
  }
}

TEST(WordCounts, MakesTheVocabularyOfFastaiFromARealText) {
  const auto golden = json::Document::load(tests::golden() / "vocabulary.json");
  const auto made = golden.root().at("shared");
  const std::string file{made.at("file").string()};
  SEQTRAIN_NEEDS_SHARED_DATA(file);
  const auto words = counts_of(tests::shared_data() / file).vocabulary();
  EXPECT_EQ(static_cast<std::int64_t>(words.size()), made.at("size").integer());
  std::string joined;
  for (const auto& word : words) joined += word + "\n";
  boost::crc_32_type checksum;
  checksum.process_bytes(joined.data(), joined.size());
  EXPECT_EQ(checksum.checksum(), made.at("crc32").integer());
}

TEST(WordList, IsReadAsItWasWritten) {
  const tests::TemporaryDirectory directory;
  const auto file = directory.path() / "vocabulary.txt";
  WordCounts counts;
  counts.add("été 42 !");
  const auto words = counts.vocabulary({.at_least = 1});
  write_word_list(file, words);
  EXPECT_EQ(read_word_list(file), words);
  const auto tokenizer = load_tokenizer(directory.path());
  EXPECT_EQ(tokenizer.vocab_size(), words.size());
  EXPECT_EQ(tokenizer.files(), std::vector{file});
  EXPECT_EQ(tokenizer.pad_id(), 1);
}

TEST(WordList, RefusesBrokenFilesWithTheLine) {
  const tests::TemporaryDirectory directory;
  const auto problem = [&](const std::string& text) {
    const auto file = directory.path() / "words";
    write_file_atomically(file, text);
    return tests::problem_of([&] { static_cast<void>(read_word_list(file)); });
  };
  EXPECT_NE(problem("a\n\nb\n").find("words:2: expected a word"), std::string::npos);
  EXPECT_NE(problem("a\n\xFF\n").find("words:2: not UTF-8"), std::string::npos);
  EXPECT_NE(problem("").find("is empty"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::text
