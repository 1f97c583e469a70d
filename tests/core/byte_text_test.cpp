#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/core/byte_text.hpp>

namespace seqtrain {
namespace {

TEST(DecodeBase64, TakesBothAlphabetsWithAndWithoutPadding) {
  EXPECT_EQ(decode_base64("", Base64::any), "");
  EXPECT_EQ(decode_base64("Zg==", Base64::any), "f");
  EXPECT_EQ(decode_base64("Zg", Base64::any), "f");
  EXPECT_EQ(decode_base64("Zm8=", Base64::any), "fo");
  EXPECT_EQ(decode_base64("Zm9v", Base64::any), "foo");
  EXPECT_EQ(decode_base64("Zm9vYmFy", Base64::any), "foobar");
  EXPECT_EQ(decode_base64("+/8=", Base64::any), "\xfb\xff");
  EXPECT_EQ(decode_base64("-_8", Base64::any), "\xfb\xff");
}

TEST(DecodeBase64, RefusesWhatIsNot) {
  for (const std::string_view text :
       {"Z", "Zm9vY", "Zm9 v", "Zg=", "=", "====", "Zm=v", "Zm9v\n"}) {
    EXPECT_FALSE(decode_base64(text, Base64::any)) << text;
    EXPECT_FALSE(decode_base64(text, Base64::standard)) << text;
  }
}

TEST(DecodeBase64, TakesOneFormIfAsked) {
  EXPECT_EQ(decode_base64("", Base64::standard), "");
  EXPECT_EQ(decode_base64("Zg==", Base64::standard), "f");
  EXPECT_EQ(decode_base64("+/8=", Base64::standard), "\xfb\xff");
  for (const std::string_view text : {"Zg", "-_8=", "-/8="}) {
    EXPECT_FALSE(decode_base64(text, Base64::standard)) << text;
  }
}

TEST(EncodeBase64, IsReadBack) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("f"), "Zg==");
  EXPECT_EQ(encode_base64("fo"), "Zm8=");
  EXPECT_EQ(encode_base64("foo"), "Zm9v");
  EXPECT_EQ(encode_base64("\xfb\xff"), "+/8=");
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(decode_base64(encode_base64(bytes), Base64::standard), bytes);
    bytes += static_cast<char>(i * 37);
  }
}

TEST(RandomToken, IsANameOfDigits) {
  const auto token = random_token();
  EXPECT_EQ(token.size(), 16u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), token.npos);
  EXPECT_NE(token, random_token());
}

TEST(PercentDecode, ReplacesTwoHexadecimalDigits) {
  EXPECT_EQ(percent_decode("a%20b%C3%a9"), "a b\xC3\xA9");
  EXPECT_EQ(percent_decode("100%"), "100%");
  EXPECT_EQ(percent_decode("%4%zz%-1%"), "%4%zz%-1%");
}

TEST(Hex, HasTwoDigitsForAByte) {
  EXPECT_EQ(hex(std::array<unsigned char, 4>{0x00, 0x0f, 0xa5, 0xff}), "000fa5ff");
  EXPECT_EQ(hex({}), "");
}

TEST(AppendLittleEndian, AppendsTheLowestByteFirst) {
  std::string bytes = "x";
  append_little_endian(bytes, std::uint16_t{0x0201});
  append_little_endian(bytes, std::uint32_t{0x83828180});
  EXPECT_EQ(bytes, "x\x01\x02\x80\x81\x82\x83");
  append_little_endian(bytes, std::uint64_t{1});
  EXPECT_EQ(bytes.size(), 15u);
  EXPECT_EQ(bytes[7], 1);
}

}  // namespace
}  // namespace seqtrain
