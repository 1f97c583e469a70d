#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <stop_token>
#include <vector>

#include <seqtrain/http/timing.hpp>

namespace seqtrain::tests {

/// A clock that advances instead of sleeping, and remembers the time.
class SleeplessTime {
 public:
  http::Timing timing() {
    return {.now = [this] { return http::Clock::time_point{std::chrono::hours{1} + elapsed()}; },
            .sleep = [this](http::Seconds time, const std::stop_token&) { sleep(time); },
            .random = [] { return 0.5; },
            .wall_seconds = [this] { return wall_seconds.load(); }};
  }
  void sleep(http::Seconds time) {
    const std::lock_guard lock{mutex_};
    sleeps_.push_back(time.count());
    nanoseconds_ += static_cast<std::int64_t>(time.count() * 1e9);
  }
  [[nodiscard]] std::vector<double> sleeps() {
    const std::lock_guard lock{mutex_};
    return sleeps_;
  }

  std::atomic<std::time_t> wall_seconds = 1'700'000'000;

 private:
  [[nodiscard]] std::chrono::nanoseconds elapsed() const {
    return std::chrono::nanoseconds{nanoseconds_.load()};
  }
  std::mutex mutex_;
  std::vector<double> sleeps_;
  std::atomic<std::int64_t> nanoseconds_ = 0;
};

}  // namespace seqtrain::tests
