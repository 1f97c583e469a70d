#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/json.hpp>
#include <seqtrain/text/unicode/unicode.hpp>

#include "support/shared_data.hpp"

namespace seqtrain::text {
namespace {

/// FNV-1a over numbers, as in the script that writes the golden file.
class Checksum {
 public:
  void add(char32_t number) { value_ = (value_ ^ number) * 0x100000001B3u; }

  [[nodiscard]] std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value_));
    return digits;
  }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325u;
};

/// Compares the checksum and the number of entries with the golden file. `entries(code, checksum)`
/// adds the entry of a character and returns whether there is one.
template <class Entries>
void expect_golden(const char* name, Entries entries) {
  const auto document = json::Document::load(tests::golden() / "unicode.json");
  const auto expected = document.root().at(name);
  Checksum checksum;
  std::int64_t count = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (0xD800 <= code && code <= 0xDFFF) continue;
    count += entries(code, checksum) ? 1 : 0;
  }
  EXPECT_EQ(count, expected.at("count").integer()) << name;
  EXPECT_EQ(checksum.text(), expected.at("checksum").string()) << name;
}

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
  expect_set("numbers", [](char32_t c) { return is_number(c); });
  expect_set("whitespace", [](char32_t c) { return is_whitespace(c); });
  expect_set("punctuation", [](char32_t c) { return is_punctuation(c); });
  expect_set("controls", [](char32_t c) { return is_control(c); });
  expect_set("ideographs", [](char32_t c) { return is_ideograph(c); });
  expect_set("nonspacing_marks", [](char32_t c) { return is_nonspacing_mark(c); });
  expect_set("word_characters", [](char32_t c) { return is_word_character(c); });
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
