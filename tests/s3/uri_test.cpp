#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/s3/uri.hpp>

namespace seqtrain::s3 {
namespace {

TEST(S3Uri, HasABucketAndANameThatIsTakenLiterally) {
  const auto uri = Uri::parse("s3://my-bucket.x/a b/100%?#ü");
  EXPECT_EQ(uri.bucket, "my-bucket.x");
  EXPECT_EQ(uri.name, "a b/100%?#ü");
  EXPECT_EQ(uri.text(), "s3://my-bucket.x/a b/100%?#ü");
  EXPECT_EQ(Uri::parse("s3://bucket").child("a").text(), "s3://bucket/a");
  EXPECT_EQ(Uri::parse("s3://bucket/run").child("a").text(), "s3://bucket/run/a");
}

TEST(S3Uri, RefusesNamesThatTheServiceRefuses) {
  for (const std::string text :
       {"gs://bucket/a", "s3:/bucket", "s3://", "s3:///a", "s3://ab", "s3://Upper/a",
        "s3://under_score/a", "s3://-bucket", "s3://bucket-", "s3://a..b", "s3://192.168.1.1/a",
        "s3://bucket/a\nb", "s3://bucket/../a", "s3://bucket/a/./b", "s3://bucket/\xff"}) {
    EXPECT_THROW((void)Uri::parse(text), InputError) << text;
  }
  EXPECT_THROW((void)Uri::parse("s3://" + std::string(64, 'a')), InputError);
  EXPECT_THROW((void)Uri::parse("s3://bucket/" + std::string(1025, 'a')), InputError);
}

}  // namespace
}  // namespace seqtrain::s3
