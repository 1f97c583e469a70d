#include <gtest/gtest.h>

#include <seqtrain/text/unicode/unicode.hpp>

#include "support/golden_characters.hpp"

namespace seqtrain::text {
namespace {

using tests::Checksum;
using tests::expect_golden;

void expect_set(const char* name, bool (*contains)(char32_t)) {
  expect_golden(name, [&](char32_t code, Checksum& checksum) {
    if (contains(code)) checksum.add(code);
    return contains(code);
  });
}

void expect_mapping(const char* name, CodePoints (*map)(char32_t)) {
  expect_golden(name, [&](char32_t code, Checksum& checksum) {
    const CodePoints mapped = map(code);
    if (mapped.size == 1 && mapped.values[0] == code) return false;
    checksum.add(code);
    for (const char32_t part : mapped) checksum.add(part);
    return true;
  });
}

TEST(Unicode, PropertiesEqualThePackagesForEveryScalarValue) {
  expect_set("letters", [](char32_t c) { return has_property(c, CharacterTable::letter); });
  expect_set("numbers", [](char32_t c) { return has_property(c, CharacterTable::number); });
  expect_set("whitespace", [](char32_t c) { return is_whitespace(c); });
  expect_set("punctuation", [](char32_t c) { return is_punctuation(c); });
  expect_set("controls", [](char32_t c) { return is_control(c); });
  expect_set("ideographs", [](char32_t c) { return is_ideograph(c); });
  expect_set("nonspacing_marks", [](char32_t c) { return is_nonspacing_mark(c); });
  expect_set("word_characters", [](char32_t c) { return is_word_character(c); });
  expect_set("numeric", [](char32_t c) { return is_numeric(c); });
  expect_set("marks", [](char32_t c) { return is_mark(c); });
}

TEST(Unicode, MappingsEqualThePackagesForEveryScalarValue) {
  expect_mapping("lower", [](char32_t c) { return lower(c); });
  expect_mapping("decompositions", [](char32_t c) { return decompose(c); });
  expect_golden("combining_classes", [](char32_t code, Checksum& checksum) {
    if (combining_class(code) == 0) return false;
    checksum.add(code);
    checksum.add(combining_class(code));
    return true;
  });
}

TEST(Unicode, KnowsTheOddOnes) {
  EXPECT_TRUE(is_punctuation(U'$'));   // category Sc in Unicode
  EXPECT_TRUE(is_control(U'\u200D'));  // zero-width joiner
  EXPECT_FALSE(is_control(U'\n'));
  EXPECT_TRUE(is_whitespace(U'\u0085'));
  EXPECT_EQ(lower(U'\u0130').size, 2u);
  EXPECT_EQ(decompose(U'\uAC01').size, 3u);
  EXPECT_EQ(decompose(U'\uAC00').size, 2u);
  EXPECT_EQ(combining_class(U'\u0345'), 240);
}

}  // namespace
}  // namespace seqtrain::text
