#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <seqtrain/sink/gcs.hpp>

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
  sink::Gcs sink{service->client(), {"bucket", "runs/1"}, {.one_request_bytes = 1000}};
};

INSTANTIATE_TYPED_TEST_SUITE_P(Gcs, SinkConformance, GcsSubject);
INSTANTIATE_TYPED_TEST_SUITE_P(Gcs, StoreConformance, GcsSubject);

TEST(Gcs, SeesWhetherItCanWrite) {
  OfflineStorage service;
  sink::Gcs{service.client(), {"bucket", "runs"}}.check_writable();
  EXPECT_EQ(service.storage.objects(), 0u);
  EXPECT_GT(service.requests, 0);
  EXPECT_THROW((sink::Gcs{service.client(), {"other-bucket", "runs"}}.check_writable()),
               InputError);
}

TEST(Gcs, ARefusalInMidRunIsAFailureNotWrongInput) {
  OfflineStorage service;
  sink::Gcs sink{service.client(), {"other-bucket", "runs"}};
  try {
    sink.put("name", bytes_of("text"));
    FAIL() << "nothing thrown";
  } catch (const InputError&) {
    FAIL() << "blames the input";
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("no such bucket"), std::string::npos);
  }
}

gcs::ClientOptions surroundings(std::map<std::string, std::string> variables) {
  return {.environment = [variables = std::move(variables)](
                             const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return {};
    return found->second;
  }};
}

TEST(Gcs, RefusesBadPlacesAndCredentialsAtOnce) {
  EXPECT_THROW(sink::Gcs{"gs://"}, InputError);
  EXPECT_THROW(sink::Gcs{"gs://No_Bucket"}, InputError);
  EXPECT_THROW(sink::Gcs{"somewhere"}, InputError);
  EXPECT_THROW((sink::Gcs{"gs://bucket",
                          {surroundings({{"GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent/x"}})}}),
               InputError);
  EXPECT_THROW((sink::Gcs{"gs://bucket", {surroundings({{"STORAGE_EMULATOR_HOST", "ftp://x"}})}}),
               InputError);
}

TEST(Gcs, TakesAnEmulatorWithAndWithoutScheme) {
  for (const char* host : {"localhost:1234", "http://localhost:1234", "https://localhost:1234"}) {
    const auto client = gcs::open_client(surroundings({{"STORAGE_EMULATOR_HOST", host}}));
    EXPECT_TRUE(client.service().options().is_emulator);
    EXPECT_EQ(client.service().options().endpoint.authority(), "localhost:1234");
  }
}

TEST(Gcs, AnEmulatorThatDoesNotAnswerIsWrongInput) {
  auto options = surroundings({{"STORAGE_EMULATOR_HOST", "127.0.0.1:1"}});
  options.retry = {.first = gcs::Seconds{0.001}, .total = gcs::Seconds{0.02}};
  EXPECT_THROW((sink::Gcs{"gs://bucket/runs", {options}}.check_writable()), InputError);
}

}  // namespace
}  // namespace seqtrain::tests
