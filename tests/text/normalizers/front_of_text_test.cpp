#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/text/normalizers/front_of_text.hpp>

namespace seqtrain::text {
namespace {

std::string front_of(const std::vector<Normalizer>& parts, std::string_view text) {
  FrontOfText front{text};
  for (const auto& part : parts) front.apply(part);
  return front.text().substr(0, front.size());
}

TEST(FrontOfText, IsWhatTheFirstCharacterBecomes) {
  const UnicodeNormalizer nfkc{NormalForm::nfkc}, nfd{NormalForm::nfd}, nfc{NormalForm::nfc};
  EXPECT_EQ(front_of({}, "abc"), "a");
  EXPECT_EQ(front_of({nfkc}, "\u2026-"), "...");
  EXPECT_EQ(front_of({nfd}, "\u00e9x"), "e\u0301");
  EXPECT_EQ(front_of({nfd}, "\u00e9\u0323x"), "e") << "another mark comes between";
  EXPECT_EQ(front_of({nfc}, "e\u0301x"), "\u00e9");
  EXPECT_EQ(front_of({nfkc, StripAccents{}, Lowercase{}}, "\u0130x"), "i\u0307");
}

TEST(FrontOfText, IsEmptyWhereItIsDropped) {
  EXPECT_EQ(front_of({StripWhitespace{}}, " ab"), "");
  EXPECT_EQ(front_of({StripAccents{}}, "\u0301ab"), "");
  EXPECT_EQ(front_of({BertNormalizer{}}, "\u0007ab"), "");
  EXPECT_EQ(front_of({Replace{.text_pattern = "ab", .content = "x"}}, "abc"), "")
      << "stands for the second character";
  EXPECT_EQ(front_of({Replace{.text_pattern = "a", .content = "xy"}}, "abc"), "xy");
  EXPECT_EQ(front_of({Prepend{"--"}}, "ab"), "--a");
}

TEST(FrontOfText, HasTheNormalFormOfTheSequence) {
  const std::vector<Normalizer> all{BertNormalizer{},
                                    UnicodeNormalizer{NormalForm::nfkc},
                                    UnicodeNormalizer{NormalForm::nfd},
                                    Lowercase{},
                                    StripAccents{},
                                    StripWhitespace{},
                                    Prepend{"\u2581"},
                                    Replace{.text_pattern = "a", .content = "bc"}};
  const std::vector<std::string> spice{"a",      " ",      "\u00e9",       "\u0301",
                                       "\u0323", "\u2026", "\u4e2d",       "\u0007",
                                       "B",      "\ud55c", "\u1112\u1161", "\ufb01"};
  std::mt19937 random{3};
  for (int round = 0; round < 2000; ++round) {
    std::vector<Normalizer> parts;
    for (unsigned i = random() % 4; i > 0; --i) parts.push_back(all[random() % all.size()]);
    std::string text;
    for (unsigned i = random() % 8; i > 0; --i) text += spice[random() % spice.size()];
    FrontOfText front{text};
    for (const auto& part : parts) front.apply(part);
    std::string buffer, other;
    EXPECT_EQ(front.text(), NormalizerSequence{parts}.normalize(text, buffer, other)) << text;
    EXPECT_LE(front.size(), front.text().size());
  }
}

}  // namespace
}  // namespace seqtrain::text
