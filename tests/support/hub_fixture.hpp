#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/hub/fetch.hpp>

#include "support/fake_transport.hpp"
#include "support/sleepless_time.hpp"
#include "support/temporary_directory.hpp"
#include "support/writable_hub.hpp"

namespace seqtrain::tests {

/// A hub in memory at https://hub.test, whose large files are at https://files.test, and a cache.
class HubFixture : public testing::Test {
 protected:
  HubFixture() { hub_.keep_large_files(files_, "https://files.test"); }

  http::Response answer(const FakeTransport::Seen& seen) {
    const ServerRequest request{seen.method, seen.target, seen.headers, seen.body};
    auto response =
        seen.origin == "https://files.test" ? files_.handle(request) : hub_.handle(request);
    if (seen.method == "HEAD") {
      response.headers.push_back({"Content-Length", std::to_string(response.body.size())});
      response.body.clear();
    }
    return response;
  }

  hub::Client make_client(FakeTransport::Handler handler, const std::string& token = "") {
    auto transport = std::make_unique<FakeTransport>(std::move(handler));
    transport_ = transport.get();
    hub::Settings settings{.endpoint = http::Url::parse("https://hub.test", "test"),
                           .token = token};
    return {std::move(transport),
            std::move(settings),
            {.timing = time_.timing(), .log = [this](std::string_view line) { note(line); }}};
  }
  hub::Client make_client(const std::string& token = "") {
    return make_client([this](const auto& seen) { return answer(seen); }, token);
  }
  /// Returns a client whose hub cannot be reached.
  hub::Client make_client_alone() {
    return make_client([](const auto&) -> http::Response { throw http::Unreachable{"no route"}; });
  }

  /// Returns a client that must not send requests.
  hub::Client make_offline_client() {
    return {std::make_unique<FakeTransport>([](const auto&) -> http::Response {
              ADD_FAILURE() << "a request in offline mode";
              return {404};
            }),
            {.offline = true}};
  }

  void note(std::string_view line) {
    const std::lock_guard lock{mutex_};
    log_ += std::string{line} + "\n";
  }

  static std::map<std::string, std::string> small_model(const std::string& weights) {
    return {{"config.json", "{}"},
            {"README.md", "text"},
            {"tokenizer.json", "{}"},
            {"model.safetensors", weights},
            {"pytorch_model.bin", "old"}};
  }

  WritableHub hub_;
  FakeFileStore files_;
  SleeplessTime time_;
  FakeTransport* transport_ = nullptr;
  std::mutex mutex_;
  std::string log_;
  TemporaryDirectory directory_;
  const hub::Cache cache_{directory_.path()};
  const hub::Name name_ = hub::Name::parse("org/m");
};

}  // namespace seqtrain::tests
