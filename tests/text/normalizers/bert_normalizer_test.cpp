#include <string>

#include <gtest/gtest.h>

#include <seqtrain/text/normalizers/bert_normalizer.hpp>

#include "support/bert_golden.hpp"

namespace seqtrain::text {
namespace {

std::string normal(const BertNormalizer& normalizer, std::string_view text) {
  std::string out;
  normalizer.normalize(text, out);
  return out;
}

TEST(BertNormalizer, EqualsThePackageUnderEverySetting) {
  const tests::BertGolden golden;
  ASSERT_EQ(golden.cases().size(), 24u);
  for (const auto& expected : golden.cases()) {
    ASSERT_GT(expected.normal.size(), 30u);
    for (std::size_t i = 0; i < expected.normal.size(); ++i) {
      EXPECT_EQ(normal(expected.normalizer, golden.texts()[i]), expected.normal[i])
          << "clean " << expected.normalizer.clean_text << " lower "
          << expected.normalizer.lowercase << " strip " << expected.normalizer.strips_accents();
    }
  }
}

TEST(BertNormalizer, StripsAccentsWhereItLowersUnlessToldOtherwise) {
  EXPECT_EQ(normal({}, "CAFÉ"), "cafe");
  EXPECT_EQ(normal({.lowercase = false}, "CAFÉ"), "CAFÉ");
  EXPECT_EQ(normal({.strip_accents = false}, "CAFÉ"), "café");
  EXPECT_EQ(normal({.lowercase = false, .strip_accents = true}, "CAFÉ"), "CAFE");
}

TEST(BertNormalizer, AppendsAndKeepsWhatIsThere) {
  std::string out = "before ";
  BertNormalizer{}.normalize("AFTER", out);
  EXPECT_EQ(out, "before after");
}

TEST(BertNormalizer, SortsTheMarksThatAreLeftByTheirClass) {
  // U+1D165 (class 216) and U+302E (class 224) are spacing marks and stay.
  EXPECT_EQ(normal({}, "a\u302E\u0301\U0001D165"), "a\U0001D165\u302E");
}

}  // namespace
}  // namespace seqtrain::text
