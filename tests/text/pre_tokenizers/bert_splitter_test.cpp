#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/pre_tokenizers/bert_splitter.hpp>

namespace seqtrain::text {
namespace {

using Words = std::vector<std::string>;

Words words(std::string_view text) {
  Words result;
  BertSplitter{}.for_each_word(text, [&](std::string_view word) { result.emplace_back(word); });
  return result;
}

TEST(BertSplitter, DropsWhitespaceAndIsolatesPunctuation) {
  EXPECT_EQ(words("no, don't  stop..."),
            (Words{"no", ",", "don", "'", "t", "stop", ".", ".", "."}));
}

TEST(BertSplitter, FindsNoWordsInEmptyOrBlankText) {
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words(" \t\n\u3000\u00A0\u2028"), Words{});
}

TEST(BertSplitter, KnowsPunctuationAndWhitespaceBeyondAscii) {
  EXPECT_EQ(words("“don’t”\u2003¿qué?"), (Words{"“", "don", "’", "t", "”", "¿", "qué", "?"}));
}

TEST(BertSplitter, KeepsWordsAtBothEndsWhole) {
  EXPECT_EQ(words("first last"), (Words{"first", "last"}));
  EXPECT_EQ(words("\u0085edge\v"), (Words{"edge"}));
}

}  // namespace
}  // namespace seqtrain::text
