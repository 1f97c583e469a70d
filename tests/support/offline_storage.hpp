#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <seqtrain/gcs/client.hpp>
#include <seqtrain/gcs/credentials.hpp>

#include "support/fake_storage.hpp"
#include "support/fake_transport.hpp"
#include "support/sleepless_time.hpp"

namespace seqtrain::tests {

/// A storage service and clients that reach it without a network and without waits.
struct OfflineStorage {
  gcs::Client client() {
    auto fake = std::make_unique<FakeTransport>([this](const FakeTransport::Seen& seen) {
      ++requests;
      if (refuses && refuses(seen)) return http::Response{403};
      ServerRequest request{seen.method, seen.target, seen.headers, seen.body};
      request.headers.push_back({"Host", "storage.googleapis.com"});
      auto response = storage.handle(request);
      for (auto& header : response.headers) {
        if (header.name == "Location") header.value.replace(0, 4, "https");
      }
      return response;
    });
    return gcs::Client{
        std::make_unique<gcs::Session>(std::move(fake), std::make_unique<gcs::Anonymous>(),
                                       gcs::SessionOptions{.timing = time.timing(), .log = {}})};
  }

  FakeStorage storage;
  SleeplessTime time;
  std::atomic<int> requests = 0;
  std::function<bool(const FakeTransport::Seen&)> refuses = {};
};

}  // namespace seqtrain::tests
