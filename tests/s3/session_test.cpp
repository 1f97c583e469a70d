#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/s3/session.hpp>

#include "support/fake_s3.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

using s3::Uri;

http::Response refusal(int status, const std::string& code) {
  return {status, {}, "<Error><Code>" + code + "</Code><Message>text</Message></Error>"};
}

/// Returns the error of a write that the service answers like that, always.
std::string problem_of_answer(const http::Response& answer) {
  OfflineS3 service;
  service.answers = [&](const auto&) { return answer; };
  const auto client = service.client();
  return problem_of([&] { (void)client.put({"bucket", "a"}, "text"); });
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(S3Service, SetsItsClockByTheServiceOnce) {
  OfflineS3 service;
  service.storage.ahead = -3 * 3600;
  const auto client = service.client();
  (void)client.put({"bucket", "a"}, "text");
  EXPECT_EQ(service.requests, 2);
  (void)client.put({"bucket", "a"}, "text");
  EXPECT_EQ(service.requests, 3);
  EXPECT_TRUE(has(service.log, "clock is off by 10800 seconds")) << service.log;
}

TEST(S3Service, ReadsWithAWrongClockToo) {  // an answer to HEAD has no code
  OfflineS3 service;
  service.storage.write("a", "text");
  service.storage.ahead = 2 * 3600;
  EXPECT_EQ(service.client().stat({"bucket", "a"}).size, 4U);
}

TEST(S3Service, GoesToTheBucketsRegionAndStaysThere) {
  OfflineS3 service;
  service.storage.region = "eu-north-1";
  const auto client = service.client();
  EXPECT_FALSE(client.find({"bucket", "a"}));
  EXPECT_EQ(service.requests, 2);
  (void)client.put({"bucket", "a"}, "text");
  EXPECT_EQ(service.requests, 3);
}

/// Lets another request of the same client be answered before the first one is.
void interrupt_first(OfflineS3& service, const s3::Client& client) {
  service.answers = [&, first = true](const auto&) mutable -> std::optional<http::Response> {
    if (std::exchange(first, false)) (void)client.find({"bucket", "other"});
    return {};
  };
}

TEST(S3Service, GoesToTheRegionThatAnotherThreadHasFound) {
  OfflineS3 service;
  service.storage.region = "eu-north-1";
  const auto client = service.client();
  interrupt_first(service, client);
  EXPECT_NO_THROW((void)client.put({"bucket", "a"}, "text"));
}

TEST(S3Service, TakesTheClockThatAnotherThreadHasSet) {
  OfflineS3 service;
  service.storage.write("a", "text");
  service.storage.ahead = 2 * 3600;
  const auto client = service.client();
  interrupt_first(service, client);
  EXPECT_EQ(client.stat({"bucket", "a"}).size, 4U);
  EXPECT_EQ(service.requests, 4);
}

TEST(S3Service, TakesTheRegionOfTheBodyIfNoHeaderNamesIt) {
  OfflineS3 service;
  service.answers = [](const FakeTransport::Seen& seen) -> std::optional<http::Response> {
    if (seen.header("Authorization").find("/garage/s3/") != std::string::npos) return {};
    const bool bare = seen.method == "HEAD";
    return http::Response{400,
                          {},
                          bare ? ""
                               : "<Error><Code>AuthorizationHeaderMalformed</Code>"
                                 "<Region>garage</Region></Error>"};
  };
  service.storage.region = "garage";
  service.storage.write("a", "text");
  EXPECT_EQ(service.client().stat({"bucket", "a"}).size, 4U);
  EXPECT_NO_THROW((void)service.client().put({"bucket", "b"}, "text"));
}

TEST(S3Service, ARefusalThatAlsoNamesTheRegionIsNotAboutIt) {
  auto answer = refusal(400, "InvalidArgument");
  answer.headers.push_back({"x-amz-bucket-region", "eu-north-1"});
  const auto said = problem_of_answer(answer);
  EXPECT_TRUE(has(said, "answered 400: InvalidArgument")) << said;
  EXPECT_FALSE(has(said, "region")) << said;
}

TEST(S3Service, NamesTheRegionThatItCannotReach) {
  const auto said = problem_of_answer(
      {301, {{"x-amz-bucket-region", "eu-north-1"}}, refusal(301, "PermanentRedirect").body});
  EXPECT_TRUE(has(said, "set AWS_REGION=eu-north-1")) << said;
  const auto unnamed = problem_of_answer(refusal(400, "AuthorizationHeaderMalformed"));
  EXPECT_TRUE(has(unnamed, "see AWS_REGION")) << unnamed;
  EXPECT_TRUE(has(problem_of_answer({307, {{"Location", "http://elsewhere/"}}, {}}),
                  "the bucket is at another address"));
}

TEST(S3Service, RenewsKeysThatHaveExpiredOnce) {
  OfflineS3 service;
  service.storage.refused_token = "token-1";
  const auto client = service.client();
  (void)client.put({"bucket", "a"}, "text");
  EXPECT_EQ(service.transport->seen().back().header("x-amz-security-token"), "token-2");
  EXPECT_EQ(service.requests, 2);
}

TEST(S3Service, SaysWhatIsRefusedAndShowsNoSecret) {
  const auto expired = problem_of_answer(refusal(400, "ExpiredToken"));
  EXPECT_TRUE(has(expired, "does not accept the role test any more")) << expired;
  const auto denied = problem_of_answer(refusal(403, "AccessDenied"));
  EXPECT_TRUE(has(denied, "the permission s3:PutObject is needed")) << denied;
  EXPECT_TRUE(has(problem_of_answer(refusal(404, "NoSuchBucket")), "no such bucket"));
  EXPECT_TRUE(has(problem_of_answer(refusal(403, "SignatureDoesNotMatch")), "does not accept"));
  EXPECT_TRUE(has(problem_of_answer(refusal(403, "RequestTimeTooSkewed")), "clock is wrong"));
  EXPECT_TRUE(has(problem_of_answer({418, {}, "<html>"}), "answered 418"));
  EXPECT_FALSE(has(
      problem_of_answer({400, {}, "<Error><Code>a\nb</Code><Key>secret</Key></Error>"}), "secret"));
}

/// Tells whether a write that the service answers like that, always, blames the input.
bool is_blamed_on_input(int status, const std::string& code) {
  OfflineS3 service;
  service.answers = [&](const auto&) { return refusal(status, code); };
  try {
    (void)service.client().put({"bucket", "a"}, "text");
  } catch (const InputError& error) {
    EXPECT_TRUE(has(error.what(), "see AWS_ENDPOINT_URL")) << error.what();
    return true;
  } catch (const Error&) {
  }
  return false;
}

TEST(S3Service, WhatItNeverTakesIsWrongInput) {
  EXPECT_TRUE(is_blamed_on_input(405, "MethodNotAllowed"));  // such as a server of pages
  EXPECT_TRUE(is_blamed_on_input(400, "InvalidRequest"));
  EXPECT_FALSE(is_blamed_on_input(429, "TooManyRequests"));
  EXPECT_FALSE(is_blamed_on_input(409, "OperationAborted"));
  EXPECT_FALSE(is_blamed_on_input(500, "InternalError"));
}

TEST(S3Service, ShowsOneLineOfAServicesMessage) {
  const auto said = problem_of_answer({403,
                                       {},
                                       "<Error><Code>a\nb</Code><Message>c\x1b[2J&#155;" +
                                           std::string(1000, 'd') + ".</Message></Error>"});
  EXPECT_EQ(said.find_first_of("\n\x1b\x9b"), std::string::npos) << said;
  EXPECT_LT(said.size(), 700U);
  const auto denied = problem_of_answer(
      {403, {}, "<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>"});
  EXPECT_TRUE(has(denied, "AccessDenied: Access Denied; the permission")) << denied;
}

TEST(S3Service, WaitsWhenTheServiceAsksToSlowDown) {
  OfflineS3 service;
  int left = 3;
  service.answers = [&](const auto&) -> std::optional<http::Response> {
    if (left-- > 0) return refusal(503, "SlowDown");
    return {};
  };
  (void)service.client().put({"bucket", "a"}, "text");
  EXPECT_EQ(service.time.sleeps(), (std::vector<double>{1, 2, 4}));
  EXPECT_TRUE(has(service.log, "status 503 (SlowDown); trying again")) << service.log;
}

TEST(S3Service, RepeatsAConflictOfConditionalWrites) {
  OfflineS3 service;
  int left = 1;
  service.answers = [&](const auto&) -> std::optional<http::Response> {
    if (left-- > 0) return refusal(409, "ConditionalRequestConflict");
    return {};
  };
  EXPECT_NO_THROW((void)service.client().put({"bucket", "a"}, "text", {.if_etag = ""}));
}

/// Returns the address to which a request for an object is sent.
std::string address_of(s3::SessionOptions options, const std::string& bucket) {
  std::string address;
  auto fake = std::make_unique<FakeTransport>([&](const FakeTransport::Seen& seen) {
    address = seen.origin + seen.target;
    return http::Response{404};
  });
  const s3::Client client{std::make_unique<s3::Session>(
      std::move(fake), std::make_unique<s3::Anonymous>(), std::move(options))};
  EXPECT_FALSE(client.find({bucket, "a b/ü"}));
  return address;
}

TEST(S3Service, PutsTheBucketIntoTheHostOrThePath) {
  EXPECT_EQ(address_of({.region = "eu-west-1"}, "bucket"),
            "https://bucket.s3.eu-west-1.amazonaws.com/a%20b/%C3%BC");
  EXPECT_EQ(address_of({.region = "eu-west-1"}, "my.bucket"),
            "https://s3.eu-west-1.amazonaws.com/my.bucket/a%20b/%C3%BC");
  EXPECT_EQ(address_of({.region = "cn-north-1", .dual_stack = true}, "bucket"),
            "https://bucket.s3.dualstack.cn-north-1.amazonaws.com.cn/a%20b/%C3%BC");
  const auto endpoint = http::Url::parse("https://host:9000/below/", "test");
  EXPECT_EQ(address_of({.endpoint = endpoint, .path_style = true}, "bucket"),
            "https://host:9000/below/bucket/a%20b/%C3%BC");
  EXPECT_EQ(address_of({.endpoint = endpoint}, "bucket"),
            "https://bucket.host:9000/below/a%20b/%C3%BC");
}

/// Returns the error of a request to Amazon whose connection fails by `Failure`.
template <class Failure>
std::string problem_at_amazon() {
  SleeplessTime time;
  auto fake = std::make_unique<FakeTransport>(
      [](const FakeTransport::Seen&) -> http::Response { throw Failure{"no such host"}; });
  const s3::Client client{
      std::make_unique<s3::Session>(std::move(fake), std::make_unique<s3::Anonymous>(),
                                    s3::SessionOptions{.timing = time.timing()})};
  return problem_of([&] { (void)client.find({"bucket", "a"}); });
}

TEST(S3Service, NamesTheRegionWhenNobodyIsThere) {
  const auto said = problem_at_amazon<http::Unreachable>();
  EXPECT_TRUE(has(said, "no such host; see AWS_REGION")) << said;
  EXPECT_FALSE(has(problem_at_amazon<http::TransportError>(), "AWS_REGION"));
}

TEST(S3Service, AfterACancelNothingIsAsked) {
  OfflineS3 service;
  const auto client = service.client();
  client.cancel();
  EXPECT_THROW((void)client.put({"bucket", "a"}, "text"), Error);
  EXPECT_EQ(service.requests, 0);
}

}  // namespace
}  // namespace seqtrain::tests
