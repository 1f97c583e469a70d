#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/s3/sink.hpp>
#include <seqtrain/sink/any.hpp>

#include "support/fake_s3.hpp"
#include "support/problem_of.hpp"
#include "support/sink_conformance.hpp"
#include "support/store_conformance.hpp"

namespace seqtrain::tests {
namespace {

struct S3Subject {
  std::optional<std::string> read(std::string_view key) {
    return service->storage.read("runs/1/" + std::string{key});
  }

  std::unique_ptr<OfflineS3> service = std::make_unique<OfflineS3>();
  s3::Sink sink{
      service->client(), {"bucket", "runs/1"}, {.part_bytes = 1000000, .one_request_bytes = 1000}};
};

/// A service that keeps no checksums, so ETags are all that there is.
struct PlainS3Subject : S3Subject {
  PlainS3Subject() { service->storage.has_checksums = false; }
};

INSTANTIATE_TYPED_TEST_SUITE_P(S3Sink, SinkConformance, S3Subject);
INSTANTIATE_TYPED_TEST_SUITE_P(S3Sink, StoreConformance, S3Subject);
INSTANTIATE_TYPED_TEST_SUITE_P(PlainS3Sink, SinkConformance, PlainS3Subject);
INSTANTIATE_TYPED_TEST_SUITE_P(PlainS3Sink, StoreConformance, PlainS3Subject);

std::string problem_of_check(OfflineS3& service, const std::string& bucket = "bucket") {
  return problem_of([&] { s3::Sink{service.client(), {bucket, "runs"}}.check_writable(); });
}

TEST(S3Sink, SeesWhetherItCanWrite) {
  OfflineS3 service;
  s3::Sink{service.client(), {"bucket", "runs"}}.check_writable();
  EXPECT_EQ(service.storage.objects(), 0U);
  EXPECT_NE(problem_of_check(service, "other-bucket").find("no such bucket"), std::string::npos);
  service.storage.denied = "PUT";
  EXPECT_NE(problem_of_check(service).find("s3:PutObject is needed"), std::string::npos);
  service.storage.denied = "DELETE";
  EXPECT_NE(problem_of_check(service).find("s3:DeleteObject is needed"), std::string::npos);
}

TEST(S3Sink, RefusesAServiceWithoutConditionalWrites) {
  OfflineS3 service;
  service.storage.keeps_conditions = false;
  const auto said = problem_of_check(service);
  EXPECT_NE(said.find("ignores or refuses If-None-Match"), std::string::npos) << said;
  EXPECT_EQ(service.storage.objects(), 0U);
}

TEST(S3Sink, RefusesAServiceThatDoesNotKnowConditions) {
  for (const char* header : {"If-None-Match", "If-Match"}) {
    OfflineS3 service;
    service.storage.unknown_header = header;
    s3::Sink sink{service.client(), {"bucket", "runs"}};
    EXPECT_THROW(sink.check_writable(), InputError) << header;
    EXPECT_NE(problem_of_check(service).find("conditional writes"), std::string::npos) << header;
    EXPECT_EQ(service.storage.objects(), 0U) << header;
  }
}

TEST(S3Sink, LeavesNothingBehindWhenItCannotRead) {
  OfflineS3 service;
  service.answers = [](const FakeTransport::Seen& seen) -> std::optional<http::Response> {
    if (seen.method != "HEAD" && seen.method != "GET") return {};
    return http::Response{403, {}, "<Error><Code>AccessDenied</Code></Error>"};
  };
  EXPECT_NE(problem_of_check(service).find("s3:GetObject is needed"), std::string::npos);
  EXPECT_EQ(service.storage.objects(), 0U);
}

TEST(S3Sink, AnObjectThatIsReplacedInTwoStepsIsSomebodyElses) {
  OfflineS3 service;
  s3::Sink sink{service.client(), {"bucket", "runs"}};
  const auto generation = sink.put_if("lease", bytes_of("mine"), 0);
  service.answers = [&](const FakeTransport::Seen& seen) -> std::optional<http::Response> {
    if (seen.method != "PUT") return {};
    return http::Response{404, {}, "<Error><Code>NoSuchKey</Code></Error>"};  // it is back now
  };
  EXPECT_FALSE(sink.put_if("lease", bytes_of("late"), *generation));
}

TEST(S3Sink, ARefusalInMidRunIsAFailureNotWrongInput) {
  OfflineS3 service;
  s3::Sink sink{service.client(), {"other-bucket", "runs"}};
  try {
    sink.put("name", bytes_of("text"));
    FAIL() << "nothing thrown";
  } catch (const InputError&) {
    FAIL() << "blames the input";
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("no such bucket"), std::string::npos);
  }
  EXPECT_THROW((void)sink.list(""), Error);
}

TEST(S3Sink, SomebodyElsesWriteIsNoFailure) {
  OfflineS3 service;
  s3::Sink sink{service.client(), {"bucket", "runs"}};
  const auto generation = sink.put_if("lease", bytes_of("mine"), 0);
  ASSERT_TRUE(generation);
  service.storage.write("runs/lease", "mine");  // equal bytes, and so an equal ETag
  EXPECT_FALSE(sink.put_if("lease", bytes_of("late"), *generation));
  EXPECT_EQ(sink.get("lease")->bytes, "mine");
}

TEST(S3Sink, ListsNoFolderThatAConsoleCreated) {
  OfflineS3 service;
  for (const char* name : {"runs/", "runs/1/", "runs/1/a"}) service.storage.write(name, "");
  s3::Sink sink{service.client(), {"bucket", "runs"}};
  EXPECT_EQ(sink.list(""), std::vector<std::string>{"1/a"});
}

TEST(S3Sink, AfterACancelNothingIsAsked) {
  OfflineS3 service;
  sink::Any sink{s3::Sink{service.client(), {"bucket", "runs"}}};
  sink.put("name", bytes_of("text"));
  const int before = service.requests;
  sink.cancel();
  EXPECT_THROW(sink.put("name", bytes_of("text")), Error);
  EXPECT_THROW((void)sink.get("name"), Error);
  EXPECT_EQ(service.requests, before);
}

}  // namespace
}  // namespace seqtrain::tests
