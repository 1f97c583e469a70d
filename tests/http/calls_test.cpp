#include <algorithm>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/http/calls.hpp>

#include "support/problem_of.hpp"
#include "support/sleepless_time.hpp"

namespace seqtrain::tests {
namespace {

struct CallsOperation {
  [[nodiscard]] std::string place() const { return "some place"; }
};

struct CallsOptions {
  http::RetryPolicy retry = {};
  http::Timing timing = {};
  http::Log log = {};
};

/// Gives the status that comes next, the last of them always. Zero means that there is no answer.
class StatusService : public http::Calls<StatusService, CallsOperation> {
 public:
  StatusService(std::vector<int> statuses, http::Timing timing) : statuses_{std::move(statuses)} {
    options_.timing = std::move(timing);
    options_.timing.stop = stop();
  }

  [[nodiscard]] const CallsOptions& options() const { return options_; }

  http::Response exchange(const http::Request&, const CallsOperation&) {
    const auto status = statuses_.at(std::min(asked++, statuses_.size() - 1));
    if (status == 0) throw http::TransportError{"no answer"};
    return {status};
  }
  static std::optional<std::string> repeats(const http::Response& response) {
    return http::reason_to_repeat(response);
  }
  [[noreturn]] static void fail(const http::Response& response, const CallsOperation&) {
    throw Error{"failed with " + std::to_string(response.status)};
  }
  [[noreturn]] static void give_up(const http::TransportError& error, const CallsOperation&) {
    throw Error{"gave up: " + std::string{error.what()}};
  }

  std::size_t asked = 0;

 private:
  std::vector<int> statuses_;
  CallsOptions options_;
};

TEST(Calls, RepeatARequestUntilItsAnswerIsFinal) {
  SleeplessTime time;
  StatusService service{{503, 0, 404}, time.timing()};
  bool repeated = false;
  EXPECT_EQ(service.call({}, {}, &repeated).status, 404);
  EXPECT_TRUE(repeated);
  EXPECT_EQ(time.sleeps(), (std::vector<double>{1, 2}));
  EXPECT_EQ(service.call({}, {}, &repeated).status, 404);
  EXPECT_FALSE(repeated);
}

TEST(Calls, EndWithTheLastFailureWhenTheTimeIsOver) {
  SleeplessTime time;
  StatusService failing{{0, 503}, time.timing()};
  EXPECT_EQ(problem_of([&] { failing.call({}, {}); }), "failed with 503");
  StatusService silent{{503, 0}, time.timing()};
  EXPECT_EQ(problem_of([&] { silent.call({}, {}); }), "gave up: no answer");
}

TEST(Calls, AskNothingAfterACancel) {
  SleeplessTime time;
  StatusService service{{200}, time.timing()};
  service.cancel();
  EXPECT_EQ(problem_of([&] { service.call({}, {}); }), "some place: was cancelled");
  EXPECT_EQ(service.asked, 0U);
}

TEST(Calls, SayThatTheyWereCancelledInAWait) {
  SleeplessTime time;
  auto timing = time.timing();
  StatusService* waiting = nullptr;
  timing.sleep = [&](http::Seconds, const std::stop_token&) { waiting->cancel(); };
  StatusService service{{503}, timing};
  waiting = &service;
  EXPECT_EQ(problem_of([&] { service.call({}, {}); }), "some place: was cancelled");
  EXPECT_EQ(service.asked, 1U);
}

}  // namespace
}  // namespace seqtrain::tests
