#include <string>

#include <gtest/gtest.h>

#include <seqtrain/s3/checksum.hpp>

namespace seqtrain::s3 {
namespace {

const std::string digits = "123456789";

bool fits(Checksum checksum, const std::string& content = digits) {
  buckets::MemorySource source{http::bytes_of(content)};
  return s3::fits(checksum, Crc32c{}.update(content), source, content.size());
}

// The values are those of the catalogue of parametrised CRC algorithms, and of md5sum.
TEST(S3Checksum, KnowsEachKind) {
  EXPECT_EQ(http::base64_of(std::uint32_t{0xCBF43926}), "y/Q5Jg==");
  const Checksum known[] = {
      {Checksum::crc32c, http::base64_of(std::uint32_t{0xE3069283})},
      {Checksum::crc32, http::base64_of(std::uint32_t{0xCBF43926})},
      {Checksum::crc64nvme, http::base64_of(std::uint64_t{0xAE8B14860A799888})},
      {Checksum::md5, "25f9e794323b453885f5181f1b624d0b"}};
  for (const auto& checksum : known) {
    EXPECT_TRUE(fits(checksum)) << checksum.text;
    EXPECT_FALSE(fits(checksum, "123456780")) << checksum.text;
  }
}

TEST(S3Checksum, OfPartsIsThatOfTheirDigests) {
  // printf '%s' 12345 | md5sum; printf '%s' 6789 | md5sum; the MD5 of both digests, as bytes.
  const Checksum checksum{Checksum::md5_of_parts, "324730582f20c3f18cbb66d63a6137d2-2", 5};
  EXPECT_TRUE(fits(checksum));
  EXPECT_FALSE(fits(checksum, "123456780"));
  EXPECT_TRUE(fits({Checksum::md5_of_parts, "x-2", 0})) << "the size of a part is not known";
}

TEST(S3Checksum, IsReadFromTheHeadersOfAnAnswer) {
  const std::string md5(32, 'a');
  const auto kind = [](std::vector<http::Header> headers) {
    return read_checksum({200, std::move(headers), {}}).kind;
  };
  EXPECT_EQ(kind({}), Checksum::none);
  EXPECT_EQ(kind({{"ETag", '"' + md5 + '"'}}), Checksum::md5);
  EXPECT_EQ(kind({{"ETag", '"' + md5 + "-2\""}}), Checksum::md5_of_parts);
  EXPECT_EQ(kind({{"ETag", "\"something\""}}), Checksum::none);
  EXPECT_EQ(kind({{"ETag", '"' + md5 + '"'}, {"x-amz-server-side-encryption", "aws:kms"}}),
            Checksum::none);
  EXPECT_EQ(kind({{"ETag", md5}, {"x-amz-checksum-crc32c", "AAAAAA=="}}), Checksum::crc32c);
  EXPECT_EQ(kind({{"ETag", md5}, {"x-amz-checksum-crc32", "AAAAAA=="}}), Checksum::crc32);
  EXPECT_EQ(kind({{"ETag", md5 + "-2"}, {"x-amz-checksum-crc32c", "AAAAAA==-2"}}),
            Checksum::md5_of_parts);
  EXPECT_EQ(kind({{"ETag", md5 + "-2"}, {"x-amz-checksum-crc32", "AAAAAA=="}}),
            Checksum::md5_of_parts)
      << "the kind of the CRC is not known";
  EXPECT_EQ(kind({{"ETag", md5 + "-2"},
                  {"x-amz-checksum-type", "FULL_OBJECT"},
                  {"x-amz-checksum-crc32", "AAAAAA=="}}),
            Checksum::crc32);
  EXPECT_EQ(kind({{"ETag", md5 + "-2"},
                  {"x-amz-checksum-type", "COMPOSITE"},
                  {"x-amz-checksum-crc32c", "AAAAAA=="}}),
            Checksum::md5_of_parts);
}

}  // namespace
}  // namespace seqtrain::s3
