#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/pre_tokenizers/byte_level.hpp>

namespace seqtrain::text {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view text, bool add_prefix_space = false,
            WordPattern pattern = WordPattern::gpt2) {
  Words words;
  ByteLevelSplitter{add_prefix_space, pattern}.for_each_word(
      text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

TEST(ByteLevelSplitter, PutsTheSpaceBeforeAWord) {
  EXPECT_EQ(split("Hello world 12ab !?x"), (Words{"Hello", " world", " 12", "ab", " !?", "x"}));
  EXPECT_EQ(split(""), Words{});
}

TEST(ByteLevelSplitter, KnowsContractions) {
  EXPECT_EQ(split("don't we're I'LL x'dy"),
            (Words{"don", "'t", " we", "'re", " I", "'", "LL", " x", "'d", "y"}));
  EXPECT_EQ(split(" 's ''s 'r 'rex'"), (Words{" '", "s", " ''", "s", " '", "r", " '", "rex", "'"}));
  EXPECT_EQ(split("'tis"), (Words{"'t", "is"}));
  EXPECT_EQ(split("\n's"), (Words{"\n", "'s"}));
}

TEST(ByteLevelSplitter, LeavesTheLastOfSeveralSpacesToTheWord) {
  EXPECT_EQ(split("a   b"), (Words{"a", "  ", " b"}));
  EXPECT_EQ(split("a \n\nb"), (Words{"a", " \n", "\n", "b"}));
  EXPECT_EQ(split("a\u3000\u3000b"), (Words{"a", "\u3000", "\u3000", "b"}));
  EXPECT_EQ(split("a\u00a0b  "), (Words{"a", "\u00a0", "b", "  "}));
  EXPECT_EQ(split(" "), (Words{" "}));
}

TEST(ByteLevelSplitter, AddsASpaceOnlyWhereThereIsNone) {
  EXPECT_EQ(split("a b", true), (Words{" a", " b"}));
  EXPECT_EQ(split(" a", true), (Words{" a"}));
  EXPECT_EQ(split("'s", true), (Words{" '", "s"}));
  EXPECT_EQ(split("\na", true), (Words{" ", "\n", "a"}));
  EXPECT_EQ(split("", true), Words{});
}

TEST(ByteLevelSplitter, FollowsThePatternOfGpt4) {
  const auto gpt4 = [](std::string_view text) { return split(text, false, WordPattern::gpt4); };
  EXPECT_EQ(gpt4("'\u017fa 'Sx 'LLy'RE"), (Words{"'\u017f", "a", " '", "Sx", " '", "LLy", "'RE"}));
  EXPECT_EQ(gpt4(" !a !!a\t!a  \n \n  a"),
            (Words{" !", "a", " !!", "a", "\t", "!a", "  \n \n", " ", " a"}));
  EXPECT_EQ(gpt4("a 12345 x.\n\nb"), (Words{"a", " ", "123", "45", " x", ".\n\n", "b"}));
  EXPECT_EQ(split("1234 5", false, WordPattern::qwen2), (Words{"1", "2", "3", "4", " ", "5"}));
}

TEST(ByteLevelSplitter, CutsOffDigitsBeforeTheRuleOfGpt2) {
  const auto digits = [](std::string_view text) {
    return split(text, false, WordPattern::gpt2_digits);
  };
  EXPECT_EQ(digits("a  12 b"), (Words{"a", "  ", "1", "2", " b"}));
  EXPECT_EQ(digits(" 1"), (Words{" ", "1"}));
}

}  // namespace
}  // namespace seqtrain::text
