#include <string>

#include <gtest/gtest.h>

#include <seqtrain/gcs/uri.hpp>

namespace seqtrain::gcs {
namespace {

TEST(Uri, IsABucketAndAName) {
  EXPECT_EQ(Uri::parse("gs://bucket/a/b.txt"), (Uri{"bucket", "a/b.txt"}));
  EXPECT_EQ(Uri::parse("gs://bucket/"), Uri{"bucket"});
  EXPECT_EQ(Uri::parse("gs://bucket"), Uri{"bucket"});
  EXPECT_EQ(Uri::parse("gs://bucket/a//b/"), (Uri{"bucket", "a//b/"}));
  EXPECT_EQ(Uri::parse("gs://a.b-c_9/x").bucket, "a.b-c_9");
}

TEST(Uri, TakesEveryNameThatTheServiceTakes) {
  for (const std::string name : {"a b", "100%", "a%2Fb", "#1", "what?", "1+1", "ü/日本", "a/../b",
                                 "-rf", "a\tb", "'\"&=;"}) {
    EXPECT_EQ(Uri::parse("gs://bucket/" + name).name, name);
    EXPECT_EQ(Uri::parse("gs://bucket/" + name).text().substr(0, 12), "gs://bucket/");
  }
  EXPECT_EQ(Uri::parse("gs://bucket/" + std::string(1024, 'x')).name.size(), 1024u);
}

TEST(Uri, RefusesBucketsThatGoogleWouldRefuse) {
  for (const char* text : {"gs://",
                           "gs:///a",
                           "gs://ab/a",
                           "gs://Bucket/a",
                           "gs://buc ket/a",
                           "gs://bucket-/a",
                           "gs://-bucket",
                           "gs://_bucket/a",
                           "gs://192.168.5.4/a",
                           "gs://a..b/c",
                           "gs://.ab/c",
                           "gs://b%75cket/a",
                           "gs://büro/a",
                           "gs://bucket:80/a",
                           "gs://bucket?x",
                           "gs://bucket#x",
                           "s3://bucket/a",
                           "bucket/a",
                           "",
                           "GS://bucket/a"}) {
    EXPECT_THROW(Uri::parse(text), InputError) << text;
  }
  EXPECT_NO_THROW(Uri::parse("gs://" + std::string(63, 'b') + "/a"));
  EXPECT_THROW(Uri::parse("gs://" + std::string(64, 'b') + "/a"), InputError);
  EXPECT_THROW(Uri::parse("gs://a." + std::string(64, 'b') + "/a"), InputError);
}

TEST(Uri, RefusesObjectsThatTheServiceRefuses) {
  for (const std::string name :
       {"a\nb", "a\rb", ".", "..", "\xff", "\xc0\xaf", ".well-known/acme-challenge/x"}) {
    EXPECT_THROW(Uri::parse("gs://bucket/" + name), InputError) << name;
  }
  EXPECT_THROW(Uri::parse("gs://bucket/" + std::string(1025, 'x')), InputError);
}

TEST(Uri, ShowsNoControlCharacters) {
  EXPECT_EQ((Uri{"bucket", "a\nb\x1b[2J"}.text()), "gs://bucket/a?b?[2J");
}

TEST(Uri, HasChildren) {
  EXPECT_EQ((Uri{"bucket", "a"}.child("b/c")), (Uri{"bucket", "a/b/c"}));
  EXPECT_EQ((Uri{"bucket", "a/"}.child("b")), (Uri{"bucket", "a/b"}));
  EXPECT_EQ(Uri{"bucket"}.child("b"), (Uri{"bucket", "b"}));
  EXPECT_EQ((Uri{"bucket", "a"}.as_directory().name), "a/");
  EXPECT_EQ(Uri{"bucket"}.as_directory().name, "");
}

}  // namespace
}  // namespace seqtrain::gcs
