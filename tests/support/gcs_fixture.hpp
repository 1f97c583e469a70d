#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/gcs/client.hpp>
#include <seqtrain/gcs/credentials.hpp>
#include <seqtrain/http/beast_transport.hpp>

#include "support/fault_server.hpp"
#include "support/sleepless_time.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::tests {

/// Credentials that return token-1, token-2, …
class CountingCredentials final : public gcs::Credentials {
 public:
  [[nodiscard]] gcs::Token fetch(const http::FetchContext&, std::string_view) const override {
    return {"token-" + std::to_string(++fetched_), http::Seconds{3600}};
  }
  [[nodiscard]] std::string account() const override { return "someone@example.com"; }

 private:
  mutable std::atomic<int> fetched_ = 0;
};

/// A fault server and a client that talks to it without ever sleeping.
class GcsFixture : public testing::Test {
 protected:
  gcs::Client make_client(bool with_credentials = false, http::Deadlines deadlines = {}) {
    std::unique_ptr<gcs::Credentials> credentials = std::make_unique<gcs::Anonymous>();
    if (with_credentials) credentials = std::make_unique<CountingCredentials>();
    auto transport =
        std::make_unique<http::BeastTransport>(http::TransportOptions{.deadlines = deadlines});
    return gcs::Client{std::make_unique<gcs::Session>(
        std::move(transport), std::move(credentials),
        gcs::SessionOptions{.endpoint = {"http", "127.0.0.1", server_.port()},
                            .timing = time_.timing(),
                            .log = [this](std::string_view line) { log(line); }})};
  }

  void log(std::string_view line) {
    const std::lock_guard lock{mutex_};
    log_ += line;
    log_ += '\n';
  }
  [[nodiscard]] std::string logged() {
    const std::lock_guard lock{mutex_};
    return log_;
  }

  /// Returns the message of the exception of type `E` that `action` throws.
  template <class E, class Action>
  static std::string message_of(const Action& action) {
    try {
      action();
    } catch (const E& error) {
      return error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "another exception: " << error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }

  static std::string random_text(std::size_t size) {
    std::mt19937_64 random{size};
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; i += 8) {
      const auto word = random();
      std::memcpy(text.data() + i, &word, std::min<std::size_t>(8, size - i));
    }
    return text;
  }

  SleeplessTime time_;
  std::mutex mutex_;
  std::string log_;
  FaultServer server_;
};

}  // namespace seqtrain::tests
