#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/words.hpp>

namespace seqtrain::predict {
namespace {

std::vector<std::string> shown(std::string_view text) {
  std::vector<std::string> words;
  for (const auto& [begin, end] : words_of(text))
    words.emplace_back(text.substr(begin, end - begin));
  return words;
}

std::string without(std::string_view text, const std::vector<std::size_t>& gone) {
  const auto words = words_of(text);
  std::vector<bool> kept(words.size(), true);
  for (const std::size_t i : gone) kept.at(i) = false;
  return with_words(text, words, kept);
}

using Words = std::vector<std::string>;

TEST(WordsOf, AreRunsOfOneKindOfCharacters) {
  EXPECT_EQ(shown(" The staff,  (friendly)!! "),
            (Words{"The", "staff", ",", "(", "friendly", ")!!"}));
  EXPECT_EQ(shown("good😀bad"), (Words{"good", "😀", "bad"}));
  EXPECT_EQ(shown("\t\n "), Words{});
  EXPECT_EQ(shown(""), Words{});
}

TEST(WordsOf, KeepJoinedPartsTogether) {
  EXPECT_EQ(shown("don't well-known it’s"), (Words{"don't", "well-known", "it’s"}));
  EXPECT_EQ(shown("3.5 1,000 end.Next"), (Words{"3.5", "1,000", "end", ".", "Next"}));
  EXPECT_EQ(shown("'so' a--b -c"), (Words{"'", "so", "'", "a", "--", "b", "-", "c"}));
}

TEST(WordsOf, AreCharactersInScriptsWithoutSpaces) {
  EXPECT_EQ(shown("東京 is 大きい"), (Words{"東", "京", "is", "大", "き", "い"}));
}

TEST(WordsOf, KeepMarksWithTheirLetters) {
  EXPECT_EQ(shown("cafe\u0301 nu"), (Words{"cafe\u0301", "nu"}));
  EXPECT_EQ(shown("か\u3099か"), (Words{"か\u3099", "か"}));
}

TEST(WithWords, IsTheTextItselfWithAllOfThem) {
  EXPECT_EQ(without("  two  words ", {}), "  two  words ");
  EXPECT_EQ(without(" ", {}), " ");
}

TEST(WithWords, LeavesOutTheBlanksBeforeAWord) {
  const std::string text = "  The staff,  friendly. ";
  EXPECT_EQ(without(text, {0}), "staff,  friendly.");
  EXPECT_EQ(without(text, {1}), "The ,  friendly.");  // which were apart
  EXPECT_EQ(without(text, {2}), "The staff  friendly.");
  EXPECT_EQ(without(text, {2, 3, 4}), "The staff");
  EXPECT_EQ(without(text, {0, 1, 2, 3, 4}), "");
}

TEST(WithWords, DoesNotJoinTwoWords) {
  EXPECT_EQ(without("good/bad", {1}), "good bad");
  EXPECT_EQ(without("one (two) three", {1, 2, 3}), "one three");
  EXPECT_EQ(without("wide /so", {1}), "wide so");
  EXPECT_EQ(without("wide/ so", {1}), "wide so");
  EXPECT_EQ(without("東京都", {1}), "東都");
}

}  // namespace
}  // namespace seqtrain::predict
