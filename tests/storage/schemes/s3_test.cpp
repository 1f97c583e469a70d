#include <cstdint>
#include <ctime>
#include <optional>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/storage/open.hpp>
#include <seqtrain/storage/schemes/s3.hpp>

#include "support/environment.hpp"
#include "support/fake_s3.hpp"
#include "support/fault_server.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::storage {
namespace {

using namespace tests;

/// A service that the environment names, and a cache for the test.
class S3Buckets : public testing::Test {
 protected:
  FaultyServer<FakeS3> server_;
  TemporaryDirectory directory_;
  tests::Environment endpoint_{"AWS_ENDPOINT_URL", "http://127.0.0.1:" + server_.port()};
  tests::Environment anonymous_{"AWS_NO_SIGN_REQUEST", "YES"};
  tests::Environment files_{"HOME", directory_.path().string()};
  tests::Environment cache_{"XDG_CACHE_HOME", directory_.path().string()};
  const Options options_{log::Log{}};
};

TEST_F(S3Buckets, TakeResults) {
  const std::string text = "text";
  auto store = open_writable("s3://bucket/runs", options_);
  EXPECT_EQ(store.name(), "s3://bucket/runs/");
  store.put("name", std::as_bytes(std::span{text}));
  EXPECT_EQ(server_.service.read("runs/name"), "text");
  EXPECT_EQ(server_.service.objects(), 1U);
}

TEST_F(S3Buckets, AreOpenedForReadingWithoutARightToWrite) {
  server_.service.write("runs/name", "text");
  server_.service.denied = "PUT";
  EXPECT_EQ(open("s3://bucket/runs", options_).get("name")->bytes, "text");
  EXPECT_NE(problem_of([&] {
              (void)open_writable("s3://bucket/runs", options_);
            }).find("s3:PutObject is needed"),
            std::string::npos);
}

TEST_F(S3Buckets, HaveInputs) {
  server_.service.write("runs/1/a", "first");
  server_.service.write("runs/1/b/c", "second");
  const auto scheme = s3_buckets();
  EXPECT_EQ(scheme.list("s3://bucket/runs", options_.log), (Names{"1/a", "1/b/c"}));
  EXPECT_EQ(read_file(fetch("s3://bucket/runs/1/a", options_)), "first");
  EXPECT_EQ(read_file(fetch("s3://bucket/runs", options_) / "1/b/c"), "second");
}

/// A service whose requests are signed, with the clock of this machine.
class SignedS3Buckets : public S3Buckets {
 protected:
  SignedS3Buckets() {
    constexpr std::int64_t start = 1'700'000'000;  // of the fake service
    server_.service.ahead = static_cast<std::int64_t>(std::time(nullptr)) - start;
  }

  tests::Environment not_anonymous_{"AWS_NO_SIGN_REQUEST", std::nullopt};
  tests::Environment key_{"AWS_ACCESS_KEY_ID", "a-key"};
  tests::Environment secret_{"AWS_SECRET_ACCESS_KEY", "a-secret"};
  tests::Environment token_{"AWS_SESSION_TOKEN", "a-token"};
};

TEST_F(SignedS3Buckets, AreFoundInAnotherRegion) {
  server_.service.region = "eu-north-1";
  const std::string text = "text";
  open_writable("s3://bucket/runs", options_).put("name", std::as_bytes(std::span{text}));
  EXPECT_EQ(server_.service.read("runs/name"), "text");
}

TEST_F(SignedS3Buckets, AreRefusedBeforeTheWorkIfTheTokenHasExpired) {
  server_.service.refused_token = "a-token";
  const auto problem = problem_of([&] { (void)open_writable("s3://bucket/runs", options_); });
  EXPECT_THROW((void)open_writable("s3://bucket/runs", options_), InputError);
  EXPECT_TRUE(problem.starts_with("s3://bucket/runs/")) << problem;
  EXPECT_NE(problem.find("any more: ExpiredToken"), std::string::npos) << problem;
  EXPECT_NE(problem.find("fetch new keys"), std::string::npos) << problem;
  EXPECT_EQ(problem.find("a-token"), std::string::npos) << problem;
}

TEST_F(S3Buckets, GoOnAfterABrokenConnection) {
  server_.service.write("runs/a", std::string(100'000, 'x'));
  server_.script({.kind = Fault::cut_answer, .method = "GET"});
  EXPECT_EQ(read_file(fetch("s3://bucket/runs/a", options_)), std::string(100'000, 'x'));
}

TEST_F(S3Buckets, ThatAreMissingAreWrongInput) {
  EXPECT_THROW((void)s3_buckets().list("s3://other-bucket", options_.log), InputError);
  EXPECT_THROW((void)fetch("s3://other-bucket/a", options_), InputError);
  EXPECT_THROW((void)open_writable("s3://other-bucket/a", options_), InputError);
  EXPECT_NE(problem_of([&] { (void)open("s3://UPPER", options_); }).find("lower-case"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::storage
