#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/text/unicode/normal_form.hpp>

#include "support/golden_characters.hpp"

namespace seqtrain::text {
namespace {

std::string in_form(NormalForm form, std::string_view text) {
  std::string out;
  NormalFormWriter{form}.append(text, out);
  return out;
}

TEST(NormalForm, ComposesAndDecomposes) {
  EXPECT_EQ(in_form(NormalForm::nfc, "xe\u0301y"), "x\u00e9y");
  EXPECT_EQ(in_form(NormalForm::nfd, "x\u00e9y"), "xe\u0301y");
  EXPECT_EQ(in_form(NormalForm::nfkc, "\ufb01 \u00bd"), "fi 1\u20442");
  EXPECT_EQ(in_form(NormalForm::nfkd, "\u1e9b\u0323"), "s\u0323\u0307");
  EXPECT_EQ(in_form(NormalForm::nfc, "\u1112\u1161\u11ab"), "\ud55c");
  EXPECT_EQ(in_form(NormalForm::nfc, "\u0958"), "\u0915\u093c") << "is excluded from composition";
}

TEST(NormalForm, OrdersMarksAndStopsAtOneOfTheSameClass) {
  EXPECT_EQ(in_form(NormalForm::nfd, "a\u0301\u0323"), "a\u0323\u0301");
  EXPECT_EQ(in_form(NormalForm::nfc, "a\u0301\u0323"), "\u1ea1\u0301");
  EXPECT_EQ(in_form(NormalForm::nfc, "a\u0305\u0301"), "a\u0305\u0301");
}

TEST(NormalForm, DecomposesEveryCharacterAsThePackageDoes) {
  const NormalFormTable& table = NormalFormTable::instance();
  tests::expect_golden("compatibility", [&](char32_t code, tests::Checksum& checksum) {
    std::u32string canonical, compatibility;
    table.decompose(code, false, canonical);
    table.decompose(code, true, compatibility);
    if (canonical == compatibility) return false;
    checksum.add(code);
    for (const char32_t part : compatibility) checksum.add(part);
    return true;
  });
}

TEST(NormalForm, ComposesEveryCharacterThatThePackageComposes) {
  const NormalFormTable& table = NormalFormTable::instance();
  std::map<std::pair<char32_t, char32_t>, char32_t> pairs;
  for (char32_t code = 0x80; code <= 0x10FFFF; ++code) {
    const CodePoints parts = decompose(code);
    if (parts.size == 1 || (0xAC00 <= code && code <= 0xD7A3)) continue;
    char32_t first = parts.values[0];
    for (std::size_t i = 1; i + 1 < parts.size; ++i) first = table.compose(first, parts.values[i]);
    const char32_t last = parts.values[parts.size - 1];
    if (table.compose(first, last) == code) pairs[{first, last}] = code;
  }
  const auto document = json::Document::load(tests::golden() / "unicode.json");
  const auto expected = document.root().at("compositions");
  tests::Checksum checksum;
  for (const auto& [pair, code] : pairs) {
    for (const char32_t number : {pair.first, pair.second, code}) checksum.add(number);
  }
  EXPECT_EQ(static_cast<std::int64_t>(pairs.size()), expected.at("count").integer());
  EXPECT_EQ(checksum.text(), expected.at("checksum").string());
}

}  // namespace
}  // namespace seqtrain::text
