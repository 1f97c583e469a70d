#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/text/unicode/normal_form.hpp>

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

}  // namespace
}  // namespace seqtrain::text
