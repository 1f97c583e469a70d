#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/pre_tokenizers/byte_level.hpp>

namespace seqtrain::text {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view text, bool add_prefix_space = false) {
  Words words;
  ByteLevelSplitter{add_prefix_space}.for_each_word(
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

}  // namespace
}  // namespace seqtrain::text
