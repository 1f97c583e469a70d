#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/gcs/sink.hpp>
#include <seqtrain/sink/any.hpp>

#include "support/offline_storage.hpp"
#include "support/sink_conformance.hpp"
#include "support/store_conformance.hpp"

namespace seqtrain::tests {
namespace {

struct GcsSubject {
  std::optional<std::string> read(std::string_view key) {
    return service->storage.read("runs/1/" + std::string{key});
  }

  std::unique_ptr<OfflineStorage> service = std::make_unique<OfflineStorage>();
  gcs::Sink sink{service->client(), {"bucket", "runs/1"}, {.one_request_bytes = 1000}};
};

INSTANTIATE_TYPED_TEST_SUITE_P(GcsSink, SinkConformance, GcsSubject);
INSTANTIATE_TYPED_TEST_SUITE_P(GcsSink, StoreConformance, GcsSubject);

TEST(GcsSink, SeesWhetherItCanWrite) {
  OfflineStorage service;
  gcs::Sink{service.client(), {"bucket", "runs"}}.check_writable();
  EXPECT_EQ(service.storage.objects(), 0u);
  EXPECT_GT(service.requests, 0);
  EXPECT_THROW((gcs::Sink{service.client(), {"other-bucket", "runs"}}.check_writable()),
               InputError);
}

TEST(GcsSink, ARefusalInMidRunIsAFailureNotWrongInput) {
  OfflineStorage service;
  gcs::Sink sink{service.client(), {"other-bucket", "runs"}};
  try {
    sink.put("name", bytes_of("text"));
    FAIL() << "nothing thrown";
  } catch (const InputError&) {
    FAIL() << "blames the input";
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("no such bucket"), std::string::npos);
  }
}

TEST(GcsSink, SomebodyElsesWriteIsNoFailure) {
  OfflineStorage service;
  gcs::Sink sink{service.client(), {"bucket", "runs"}, {.one_request_bytes = 10}};
  const std::string large(1'000'000, 'x');
  const auto generation = sink.put_if("lease", bytes_of(large), 0);
  ASSERT_TRUE(generation);
  service.storage.write("runs/lease", "somebody else's");
  EXPECT_FALSE(sink.put_if("lease", bytes_of(large), *generation));
  EXPECT_EQ(sink.get("lease")->bytes, "somebody else's");
}

TEST(GcsSink, AMissingBucketIsAFailureOfList) {
  OfflineStorage service;
  gcs::Sink sink{service.client(), {"other-bucket", "runs"}};
  EXPECT_THROW((void)sink.list(""), Error);
}

TEST(GcsSink, ListsNoFolderThatAConsoleCreated) {
  OfflineStorage service;
  for (const char* name : {"runs/", "runs/1/", "runs/1/a"}) service.storage.write(name, "");
  gcs::Sink sink{service.client(), {"bucket", "runs"}};
  EXPECT_EQ(sink.list(""), std::vector<std::string>{"1/a"});
}

TEST(GcsSink, WhatABrokenUploadLeavesIsListedBesideTheObject) {
  OfflineStorage service;
  service.refuses = [](const FakeTransport::Seen& seen) {
    return seen.method == "DELETE" || seen.target.find("/compose") != std::string::npos;
  };
  gcs::UploadOptions upload{.chunk_bytes = 1, .one_request_bytes = 0, .parallel_bytes = 1};
  gcs::Sink sink{service.client(), {"bucket", "runs"}, upload};
  const TemporaryDirectory directory;
  const auto file = write_file(directory / "file", std::string(600'000, 'x'));
  EXPECT_THROW(sink.put_file("exp/checkpoint-1/model", file), Error);
  const auto parts = sink.list("exp/checkpoint-1");
  EXPECT_EQ(parts.size(), 3U);
  for (const auto& part : parts) {
    EXPECT_TRUE(part.starts_with("exp/checkpoint-1/model.parts-")) << part;
  }
  EXPECT_FALSE(sink.get("exp/checkpoint-1/model"));
  service.refuses = {};
  for (const auto& part : parts) sink.remove(part);
  EXPECT_TRUE(sink.list("").empty());
}

TEST(GcsSink, AfterACancelNothingIsAsked) {
  OfflineStorage service;
  sink::Any sink{gcs::Sink{service.client(), {"bucket", "runs"}}};
  sink.put("name", bytes_of("text"));
  const int before = service.requests;
  sink.cancel();
  EXPECT_THROW(sink.put("name", bytes_of("text")), Error);
  EXPECT_THROW((void)sink.list(""), Error);
  EXPECT_THROW((void)sink.get("name"), Error);
  EXPECT_EQ(service.requests, before);
}

gcs::ClientOptions surroundings(std::map<std::string, std::string> variables) {
  return {.environment = [variables = std::move(variables)](
                             const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return {};
    return found->second;
  }};
}

TEST(GcsSink, RefusesBadPlacesAndCredentialsAtOnce) {
  EXPECT_THROW(gcs::Sink{"gs://"}, InputError);
  EXPECT_THROW(gcs::Sink{"gs://No_Bucket"}, InputError);
  EXPECT_THROW(gcs::Sink{"somewhere"}, InputError);
  EXPECT_THROW((gcs::Sink{"gs://bucket",
                          {surroundings({{"GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent/x"}})}}),
               InputError);
  EXPECT_THROW((gcs::Sink{"gs://bucket", {surroundings({{"STORAGE_EMULATOR_HOST", "ftp://x"}})}}),
               InputError);
}

TEST(GcsSink, TakesAnEmulatorWithAndWithoutScheme) {
  for (const char* host : {"localhost:1234", "http://localhost:1234", "https://localhost:1234"}) {
    const auto client = gcs::open_client(surroundings({{"STORAGE_EMULATOR_HOST", host}}));
    EXPECT_TRUE(client.session().options().is_emulator);
    EXPECT_EQ(client.session().options().endpoint.authority(), "localhost:1234");
  }
}

TEST(GcsSink, AnEmulatorThatDoesNotAnswerIsWrongInput) {
  auto options = surroundings({{"STORAGE_EMULATOR_HOST", "127.0.0.1:1"}});
  options.retry = {.first = http::Seconds{0.001}, .total = http::Seconds{0.02}};
  EXPECT_THROW((gcs::Sink{"gs://bucket/runs", {options}}.check_writable()), InputError);
}

}  // namespace
}  // namespace seqtrain::tests
