#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/gcs/token.hpp>

#include "support/fake_transport.hpp"
#include "support/sleepless_time.hpp"

namespace seqtrain::tests {
namespace {

/// Credentials that count their calls, and fail or wait on request.
class Scripted final : public gcs::Credentials {
 public:
  [[nodiscard]] gcs::Token fetch(const http::FetchContext&, std::string_view) const override {
    const int number = ++fetched;
    const std::lock_guard lock{gate};
    if (failing) throw InputError{"refused"};
    return {"token-" + std::to_string(number), http::Seconds{3600}};
  }
  [[nodiscard]] std::string account() const override { return "scripted"; }

  mutable std::atomic<int> fetched = 0;
  mutable std::mutex gate;
  std::atomic<bool> failing = false;
};

class TokenSource : public testing::Test {
 protected:
  FakeTransport transport_{[](const auto&) { return http::Response{500}; }};
  SleeplessTime time_;
  http::Timing timing_ = time_.timing();
  http::RetryPolicy retry_;
  http::Log log_;
  std::unique_ptr<Scripted> owned_ = std::make_unique<Scripted>();
  Scripted& credentials_ = *owned_;
  gcs::TokenSource tokens_{std::move(owned_), {transport_, retry_, timing_, log_}};
};

TEST_F(TokenSource, KeepsATokenUntilItsLastMinutes) {
  EXPECT_EQ(tokens_.get(), "token-1");
  time_.sleep(http::Seconds{3600 - 226});
  EXPECT_EQ(tokens_.get(), "token-1");
  time_.sleep(http::Seconds{226 - 59});
  EXPECT_EQ(tokens_.get(), "token-2");
  EXPECT_EQ(tokens_.get(), "token-2");
}

TEST_F(TokenSource, DoesNotCareForTheWallClock) {
  EXPECT_EQ(tokens_.get(), "token-1");
  time_.wall_seconds = 4'000'000'000;
  EXPECT_EQ(tokens_.get(), "token-1");
  time_.wall_seconds = 0;
  EXPECT_EQ(tokens_.get(), "token-1");
}

TEST_F(TokenSource, FetchesOnceForManyThreads) {
  std::vector<std::jthread> threads;
  std::unique_lock lock{credentials_.gate};
  for (int i = 0; i < 8; ++i) threads.emplace_back([this] { EXPECT_EQ(tokens_.get(), "token-1"); });
  while (credentials_.fetched == 0) std::this_thread::yield();
  lock.unlock();
  threads.clear();
  EXPECT_EQ(credentials_.fetched, 1);
}

TEST_F(TokenSource, OthersGoOnWithTheOldTokenWhileOneRenews) {
  EXPECT_EQ(tokens_.get(), "token-1");
  time_.sleep(http::Seconds{3500});
  std::unique_lock lock{credentials_.gate};
  std::jthread renewing{[this] { EXPECT_EQ(tokens_.get(), "token-2"); }};
  while (credentials_.fetched < 2) std::this_thread::yield();
  EXPECT_EQ(tokens_.get(), "token-1");
  lock.unlock();
  renewing.join();
  EXPECT_EQ(tokens_.get(), "token-2");
}

TEST_F(TokenSource, AnEarlyRenewalThatFailsIsPutOff) {
  EXPECT_EQ(tokens_.get(), "token-1");
  time_.sleep(http::Seconds{3500});
  credentials_.failing = true;
  EXPECT_EQ(tokens_.get(), "token-1");
  EXPECT_EQ(tokens_.get(), "token-1");
  EXPECT_EQ(credentials_.fetched, 2);
  time_.sleep(http::Seconds{11});
  EXPECT_EQ(tokens_.get(), "token-1");
  EXPECT_EQ(credentials_.fetched, 3);
  time_.sleep(http::Seconds{100});
  EXPECT_THROW((void)tokens_.get(), InputError);
}

TEST_F(TokenSource, ARefusedTokenIsNotHandedOutAgain) {
  EXPECT_EQ(tokens_.get(), "token-1");
  tokens_.refuse("token-0");
  EXPECT_EQ(tokens_.get(), "token-1");
  tokens_.refuse("token-1");
  EXPECT_EQ(tokens_.get(), "token-2");
  tokens_.refuse("token-1");
  EXPECT_EQ(tokens_.get(), "token-2");
}

}  // namespace
}  // namespace seqtrain::tests
