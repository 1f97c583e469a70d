#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/loading/load_tokenizer.hpp>
#include <seqtrain/text/loading/word_list.hpp>

#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::text {
namespace {

using Words = std::vector<std::string>;

Words after_marks(const Words& words) {
  return {words.begin() + static_cast<std::ptrdiff_t>(Mark::all.size()), words.end()};
}

TEST(WordCounts, OrdersByFrequencyThenByBytes) {
  WordCounts counts;
  counts.add("b The a the b a the c c d");
  const auto words = counts.vocabulary({.at_least = 2});
  EXPECT_EQ(words[0], "xxunk");
  EXPECT_EQ(words[8], "xxmaj");
  EXPECT_EQ(after_marks(words), (Words{"the", "a", "b", "c"}));
}

TEST(WordCounts, KeepsTheMostFrequent) {
  WordCounts counts;
  counts.add("d a b a c b a c b a . .");
  EXPECT_EQ(after_marks(counts.vocabulary({.most = 11, .at_least = 1})), (Words{"a", "b"}));
  EXPECT_EQ(after_marks(counts.vocabulary()), (Words{"a", "b"}));
  EXPECT_THROW(static_cast<void>(counts.vocabulary({.most = 9})), InputError);
}

TEST(WordCounts, MergesPartsInAnyOrder) {
  WordCounts one, two, first, second;
  one.add("a b a");
  two.add("b c b.");
  first.merge(one);
  first.merge(two);
  second.merge(two);
  second.merge(one);
  EXPECT_EQ(first.vocabulary({.at_least = 1}), second.vocabulary({.at_least = 1}));
  EXPECT_EQ(after_marks(first.vocabulary({.at_least = 2})), (Words{"b", "a"}));
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
