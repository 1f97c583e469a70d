#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/tokens_a_word.hpp>

#include "support/letter_tokenizer.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::data {
namespace {

const tests::LetterTokenizer one_a_byte;

std::string words_of(std::string_view text) {
  std::size_t count = 0;
  return detail::plain_words(text, count);
}

TEST(PlainWords, AreMadeOfLettersAndStandBetweenSpaces) {
  EXPECT_EQ(words_of("Hi, große  Welt!"), "Hi große Welt");
  EXPECT_EQ(words_of("a1 x2y in 2024"), "in");
  EXPECT_EQ(words_of("رائع جدا"), "رائع جدا");
  EXPECT_EQ(words_of("हिन्दी में"), "हिन्दी में");
  EXPECT_EQ(words_of("안녕 세계"), "안녕 세계");
  EXPECT_EQ(words_of("日本語のテキスト ok ภาษาไทย"), "ok");
  EXPECT_EQ(words_of(""), "");
  const std::string longest(64, 'a'), protein = longest + "k";
  EXPECT_EQ(words_of("a " + protein + " " + longest), "a " + longest);
  std::size_t count = 0;
  (void)detail::plain_words("one two, three 4", count);
  EXPECT_EQ(count, 3U);
}

TEST(TokensAWord, IsTheMeanOverWords) {
  TokensAWord counted{one_a_byte};
  for (int i = 0; i < 33; ++i) counted.add("ab abcd abcdef");
  EXPECT_TRUE(std::isnan(counted.mean())) << "99 words are too few";
  counted.add("ab abcd abcdef");
  counted.add("\xff not a text");
  // A space between two words is a token of this tokenizer too.
  EXPECT_DOUBLE_EQ(counted.mean(), 14.0 / 3);
}

TEST(TokensAWord, ReadsTheFirstExamplesOfAFile) {
  const tests::TemporaryDirectory directory;
  std::string rows = "text,label\n";
  for (int i = 0; i < 1000; ++i) rows += "abcd,0\n";
  rows += "abcdefghijklmnop,0\n,wrong\n";
  for (int i = 0; i < 1000; ++i) rows += "abcdefghijklmnop,0\n";
  tests::write_file(directory / "train.csv", rows);
  EXPECT_EQ(tokens_a_word(directory / "train.csv", {}, Labels::sentiment(), one_a_byte), 4);
}

}  // namespace
}  // namespace seqtrain::data
