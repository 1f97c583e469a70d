#include <string>

#include <gtest/gtest.h>

#include <seqtrain/data/encode_file.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/data/unknown_tokens.hpp>

#include "support/letter_tokenizer.hpp"

namespace seqtrain::data {
namespace {

EncodedSet encoded(const std::string& texts) {
  return encode_text({.text = "text\tlabel\n" + texts, .name = "f"}, tests::LetterTokenizer{},
                     Labels::sentiment())
      .set;
}

TEST(UnknownWarning, NamesTheShareOfTheTokens) {
  const auto warning = unknown_warning(encoded("ab\t0\nabbb\t1\n"), 'b');
  EXPECT_TRUE(warning.starts_with("4 (40.0 %) of the training tokens are unknown")) << warning;
  EXPECT_NE(warning.find("take a --model that was trained on this language"), std::string::npos);
}

TEST(UnknownWarning, IsEmptyForFewOrNoUnknownTokens) {
  const auto set = encoded(std::string(100, 'a') + "b\t0\n");
  EXPECT_EQ(unknown_warning(set, 'b'), "");
  EXPECT_EQ(unknown_warning(set, {}), "");
}

}  // namespace
}  // namespace seqtrain::data
