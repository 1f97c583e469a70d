#include <string>

#include <gtest/gtest.h>

#include <seqtrain/data/label_key.hpp>

namespace seqtrain::data {
namespace {

TEST(TrimmedLabel, LacksBlanksOfAnyWidth) {
  EXPECT_EQ(trimmed_label("good"), "good");
  EXPECT_EQ(trimmed_label(" \t good film\r\n"), "good film");
  EXPECT_EQ(trimmed_label("\u00a0good\u3000"), "good");
  EXPECT_EQ(trimmed_label("\ufeffgood\u200b"), "good");
  EXPECT_EQ(trimmed_label(" ä "), "ä");
  EXPECT_EQ(trimmed_label(" \u00a0 "), "");
  EXPECT_EQ(trimmed_label(""), "");
  EXPECT_EQ(trimmed_label(" \xff "), " \xff ");
}

TEST(LabelKey, IgnoresCaseAndBlanksAroundALabel) {
  for (const char* good : {"good", "Good", "GOOD ", " good", "good\u00a0", "\ufeffGood\t"}) {
    EXPECT_EQ(label_key(good), "good") << good;
  }
  EXPECT_EQ(label_key("ÄRGER"), label_key("ärger"));
  EXPECT_EQ(label_key("ПЛОХО "), "плохо");
  EXPECT_EQ(label_key("a\u0308rger"), label_key("Ärger"));  // composed or not
}

TEST(LabelKey, TellsOtherLabelsApart) {
  EXPECT_NE(label_key("very good"), label_key("verygood"));
  EXPECT_NE(label_key("good."), label_key("good"));
  EXPECT_NE(label_key("arger"), label_key("ärger"));
  EXPECT_NE(label_key("1.5"), label_key("1"));
}

TEST(LabelKey, IgnoresTheFormOfAWholeNumber) {
  for (const char* one : {"1", "1.0", "01", " 1.000 ", "1e0"}) EXPECT_EQ(label_key(one), "1");
  EXPECT_EQ(label_key("-0"), "0");
  EXPECT_EQ(label_key("9007199254740993"), "9007199254740993");
  EXPECT_EQ(label_key("NaN"), "nan");
  EXPECT_EQ(label_key("1st"), "1st");
}

TEST(LabelKey, IsALabelThatIsNotUtf8) {
  EXPECT_EQ(label_key("A\xff "), "A\xff ");
}

}  // namespace
}  // namespace seqtrain::data
