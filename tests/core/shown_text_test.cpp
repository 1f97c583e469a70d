#include <gtest/gtest.h>

#include <seqtrain/core/shown_text.hpp>

namespace seqtrain {
namespace {

TEST(Shown, LeavesWhatCanBeSeen) {
  for (const char* text :
       {"", "good", "a b", "\\N", "Ärger", "中文", "👩‍🚀", "é|x", "\xC2\xA1", "–"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(Shown, EscapesLineBreaksAndControlCharacters) {
  EXPECT_EQ(shown("good\nfilm"), "good\\nfilm");
  EXPECT_EQ(shown("a\tb\r\n"), "a\\tb\\r\\n");
  EXPECT_EQ(shown("\x1b[31mred\x7f"), "\\u001b[31mred\\u007f");
  EXPECT_EQ(shown(std::string_view{"a\0b", 3}), "a\\u0000b");
  EXPECT_EQ(shown("a\u0085b\u2028c\u2029"), "a\\u0085b\\u2028c\\u2029");
}

TEST(Shown, EscapesBlanksThatLookLikeOthers) {
  EXPECT_EQ(shown("good\u00a0"), "good\\u00a0");
  EXPECT_EQ(shown("\ufeffgood\u200b"), "\\ufeffgood\\u200b");
  EXPECT_EQ(shown("\u2003a\u202f\u3000"), "\\u2003a\\u202f\\u3000");
}

TEST(Shown, TakesBytesThatAreNotUtf8) {
  for (const char* text : {"\xC2", "\xE2\x80", "\xEF", "\xE3\x80"}) EXPECT_EQ(shown(text), text);
}

}  // namespace
}  // namespace seqtrain
