#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <seqtrain/gcs/client.hpp>
#include <seqtrain/gcs/credentials.hpp>
#include <seqtrain/gcs/session.hpp>
#include <seqtrain/http/beast_transport.hpp>

#include "support/fault_server.hpp"

namespace seqtrain::tests {
namespace {

using namespace std::chrono_literals;

/// A resolver that hangs until the test ends.
class HangingResolver {
 public:
  ~HangingResolver() {
    const std::lock_guard lock{shared_->mutex};
    shared_->released = true;
    shared_->changed.notify_all();
  }

  [[nodiscard]] http::Resolve resolve() const {
    return [shared = shared_](const std::string&, const std::string&, auto&) {
      std::unique_lock lock{shared->mutex};
      shared->asked = true;
      shared->changed.notify_all();
      shared->changed.wait(lock, [&] { return shared->released; });
      return http::Endpoints{};
    };
  }

  void wait_until_asked() const {
    std::unique_lock lock{shared_->mutex};
    shared_->changed.wait(lock, [this] { return shared_->asked; });
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool asked = false;
    bool released = false;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

/// A client that really waits, like a program's.
class ServiceTest : public testing::Test {
 protected:
  gcs::Client make_client(http::TransportOptions options = {},
                          const std::string& host = "127.0.0.1",
                          http::Resolve resolve = &http::resolve_by_system) {
    return gcs::Client{std::make_unique<gcs::Session>(
        std::make_unique<http::BeastTransport>(std::move(options), std::move(resolve)),
        std::make_unique<gcs::Anonymous>(),
        gcs::SessionOptions{.endpoint = {"http", host, server_.port()}})};
  }

  /// Returns the message of a put that is cancelled as soon as `waits` returns.
  template <class Wait>
  static std::string cancelled_put(const gcs::Client& client, const Wait& waits) {
    std::thread canceller{[&] {
      waits();
      std::this_thread::sleep_for(50ms);
      client.cancel();
    }};
    const auto begin = http::Clock::now();
    std::string problem = "nothing thrown";
    try {
      client.put({"bucket", "name"}, "text");
    } catch (const Error& error) {
      problem = error.what();
    }
    canceller.join();
    EXPECT_LT(http::Clock::now() - begin, 20s);
    return problem;
  }

  auto until_asked() {
    return [this] {
      while (server_.count("POST") == 0) std::this_thread::sleep_for(1ms);
    };
  }

  FaultServer server_;
};

TEST_F(ServiceTest, ACancelEndsAPauseBetweenAttempts) {
  server_.script(
      {.kind = Fault::answer, .times = 1000, .response = {503, {{"Retry-After", "200"}}, ""}});
  const auto client = make_client();
  EXPECT_EQ(cancelled_put(client, until_asked()), "gs://bucket/name: was cancelled");
  EXPECT_EQ(server_.count("POST"), 1);
}

TEST_F(ServiceTest, ACancelEndsTheWaitForASilentServer) {
  server_.script({.kind = Fault::stall, .times = 1000});
  const auto client = make_client();
  EXPECT_EQ(cancelled_put(client, until_asked()), "gs://bucket/name: was cancelled");
}

TEST_F(ServiceTest, ACancelEndsALookUpThatHangs) {
  const HangingResolver hanging;
  const auto client =
      make_client({.deadlines = {.connect = http::Seconds{600}}}, "127.0.0.1", hanging.resolve());
  EXPECT_EQ(cancelled_put(client, [&] { hanging.wait_until_asked(); }),
            "gs://bucket/name: was cancelled");
}

TEST_F(ServiceTest, ALookUpThatHangsEndsAtItsDeadline) {
  const HangingResolver hanging;
  http::BeastTransport transport{{.deadlines = {.connect = http::Seconds{0.05}}},
                                 hanging.resolve()};
  const auto begin = http::Clock::now();
  EXPECT_THROW(transport.send({.url = {"http", "storage.example.com", "80"}}),
               http::TransportError);
  EXPECT_LT(http::Clock::now() - begin, 20s);
}

TEST_F(ServiceTest, AfterACancelNothingIsAsked) {
  const auto client = make_client();
  client.put({"bucket", "name"}, "text");
  client.cancel();
  EXPECT_THROW(client.put({"bucket", "name"}, "text"), Error);
  EXPECT_THROW((void)client.list({"bucket"}), Error);
  EXPECT_EQ(server_.count(""), 1);
}

}  // namespace
}  // namespace seqtrain::tests
