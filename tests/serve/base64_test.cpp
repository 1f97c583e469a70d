#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/serve/base64.hpp>

namespace seqtrain::serve {
namespace {

TEST(DecodeBase64, TakesBothAlphabetsWithAndWithoutPadding) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zg"), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(decode_base64("+/8="), "\xfb\xff");
  EXPECT_EQ(decode_base64("-_8"), "\xfb\xff");
}

TEST(DecodeBase64, RefusesWhatIsNot) {
  for (const std::string_view text :
       {"Z", "Zm9vY", "Zm9 v", "Zg=", "=", "====", "Zm=v", "Zm9v\n"}) {
    EXPECT_FALSE(decode_base64(text)) << text;
  }
}

}  // namespace
}  // namespace seqtrain::serve
