#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {
namespace {

bool is_surrogate(char32_t code) {
  return 0xD800 <= code && code <= 0xDFFF;
}

TEST(Utf8, EveryScalarValueSurvivesEncodingAndDecoding) {
  std::string bytes;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (is_surrogate(code)) continue;
    bytes.clear();
    append_utf8(bytes, code);
    std::size_t position = 0;
    ASSERT_EQ(decode(bytes, position), code);
    ASSERT_EQ(position, bytes.size());
    ASSERT_EQ(well_formed_prefix(bytes), bytes.size());
  }
}

TEST(Utf8, CountsCharactersNotBytes) {
  EXPECT_EQ(count_characters(""), 0u);
  EXPECT_EQ(count_characters("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), 4u);
}

TEST(Utf8, MeasuresTheAsciiAtTheFront) {
  for (std::size_t size = 0; size < 150; ++size) {
    std::string text(size, '\x7F');
    ASSERT_EQ(ascii_length(text), size);
    for (std::size_t at = 0; at < size; ++at) {
      text[at] = '\x80';
      ASSERT_EQ(ascii_length(text), at) << size;
      ASSERT_FALSE(is_valid_utf8(text)) << size;
      text[at] = 'a';
    }
  }
}

TEST(Utf8, NamesTheFirstInvalidByte) {
  EXPECT_FALSE(first_invalid("plain"));
  EXPECT_FALSE(first_invalid(""));
  EXPECT_FALSE(first_invalid(std::string_view{"\0", 1}));
  EXPECT_EQ(first_invalid("ab\xFFzz"), 2u);
  EXPECT_EQ(first_invalid("\xC3\xA9\x80"), 2u);      // a stray continuation byte
  EXPECT_EQ(first_invalid("ab\xE2\x82"), 2u);        // cut off at the end
  EXPECT_EQ(first_invalid("\xC0\x80"), 0u);          // an over-long form
  EXPECT_EQ(first_invalid("\xE0\x9F\xBF"), 0u);      // another over-long form
  EXPECT_EQ(first_invalid("a\xED\xA0\x80"), 1u);     // a surrogate
  EXPECT_EQ(first_invalid("\xF4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(first_invalid(std::string(100, 'x') + '\xF8'), 100u);
}

TEST(Utf8, FastCheckAgreesWithTheTable) {
  std::mt19937 random{7};
  const std::vector<unsigned char> bytes{0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F,
                                         0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
                                         0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5};
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 6, '\0');
    for (char& c : text) c = static_cast<char>(bytes[random() % bytes.size()]);
    std::size_t position = 0;
    while (const auto length = well_formed_prefix(std::string_view{text}.substr(position))) {
      position += length;
    }
    ASSERT_EQ(is_valid_utf8(text), position == text.size());
  }
}

TEST(ByteSymbols, AreThePrintableStandIns) {
  EXPECT_EQ(byte_symbols()['A'], "A");
  EXPECT_EQ(byte_symbols()[' '], "\u0120");
  EXPECT_EQ(byte_symbols()['\n'], "\u010a");
  EXPECT_EQ(byte_symbols()[0xAD], "\u0143");
  EXPECT_EQ(byte_symbols()[0xE9], "\u00e9");
  EXPECT_EQ(std::set<std::string>(byte_symbols().begin(), byte_symbols().end()).size(), 256u);
}

}  // namespace
}  // namespace seqtrain::text
