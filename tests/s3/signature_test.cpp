#include <string>

#include <gtest/gtest.h>

#include <seqtrain/s3/signature.hpp>

namespace seqtrain::s3 {
namespace {

/// The keys, the bucket and the date of the examples in Amazon's documentation of Signature Version
/// 4 ("Authenticating Requests: Using the Authorization Header").
const Keys keys{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", {}};
const SigningScope scope{"us-east-1", 1369353600};

http::Request request_of(const std::string& method, const std::string& target) {
  http::Request request{.method = method,
                        .url = {"https", "examplebucket.s3.amazonaws.com", "443"}};
  request.url.target = target;
  return request;
}

std::string signature_of(http::Request request) {
  sign(request, keys, scope, sha256_hex(request.body));
  const auto& header = request.headers.back();
  EXPECT_EQ(header.name, "Authorization");
  return header.value.substr(header.value.rfind('=') + 1);
}

TEST(Signature, OfARangeIsThatOfTheDocumentation) {
  auto request = request_of("GET", "/test.txt");
  request.headers = {{"Range", "bytes=0-9"}};
  EXPECT_EQ(signature_of(request),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(Signature, OfAPutIsThatOfTheDocumentation) {
  auto request = request_of("PUT", "/test%24file.text");
  request.headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                     {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  const std::string body = "Welcome to Amazon S3.";
  request.body = {http::bytes_of(std::string_view{body}.substr(0, 7)),
                  http::bytes_of(std::string_view{body}.substr(7))};
  EXPECT_EQ(signature_of(request),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(Signature, OfAQueryWithoutAValueIsThatOfTheDocumentation) {
  EXPECT_EQ(signature_of(request_of("GET", "/?lifecycle")),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(Signature, DoesNotDependOnTheOrderOfAQuery) {
  const auto expected = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7";
  EXPECT_EQ(signature_of(request_of("GET", "/?max-keys=2&prefix=J")), expected);
  EXPECT_EQ(signature_of(request_of("GET", "/?prefix=J&max-keys=2")), expected);
}

TEST(Signature, NamesTheHeadersThatItSigns) {
  auto request = request_of("GET", "/a");
  request.headers = {{"If-Match", "  \"x\" "}};
  sign(request, {"key", "secret", "session"}, scope, unsigned_payload);
  EXPECT_NE(request.headers.back().value.find(
                "Credential=key/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;if-match;"
                "x-amz-content-sha256;x-amz-date;x-amz-security-token,"),
            std::string::npos)
      << request.headers.back().value;
  EXPECT_EQ(request.headers.back().value.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace seqtrain::s3
