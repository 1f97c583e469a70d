#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>

namespace seqtrain::http {

/// The clock of deadlines and waits.
using Clock = std::chrono::steady_clock;
/// A duration in seconds.
using Seconds = std::chrono::duration<double>;

/// Receives one line about each retry and each failed renewal. Several threads may call it at once.
using Log = std::function<void(std::string_view)>;

/// Returns a random number in [0, 1). Several threads may call it.
inline double random_unit() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>{}(generator);
}

/// Sleeps for that time, or until `stop` requests it.
inline void sleep_until_stopped(Seconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, time, [] { return false; });
}

/// The clocks and the random numbers of the client. Tests replace them. Waits and lifetimes use the
/// steady clock, which is never adjusted. The wall clock is used only for dates in protocols.
struct Timing {
  std::function<Clock::time_point()> now = &Clock::now;
  std::function<void(Seconds, const std::stop_token&)> sleep = &sleep_until_stopped;
  std::function<double()> random = &random_unit;
  std::function<std::time_t()> wall_seconds = [] { return std::time(nullptr); };
  std::stop_token stop = {};  ///< ends sleeps and prevents further attempts
};

/// Parses an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`. Returns seconds since 1970.
inline std::optional<std::time_t> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return {};
  return ::timegm(&parts);
}

/// Tells how long failed requests are repeated.
struct RetryPolicy {
  Seconds first{1};       ///< mean of the first wait; each later one is twice as long
  Seconds longest{32};    ///< longest single wait, unless Retry-After asks for more
  Seconds total{5 * 60};  ///< longest time without progress; then the last failure is thrown

  void validate() const {
    const auto positive = [](Seconds time) {
      return std::isfinite(time.count()) && time > Seconds{};
    };
    if (positive(first) && positive(longest) && total >= Seconds{}) return;
    throw InputError{"waits must be positive", {.object = "retry policy"}};
  }
};

/// Tells whether a retry may succeed after this status.
inline bool is_retryable(int status) {
  return status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
}

/// The waits between the attempts of an operation. They grow exponentially up to a total time. Each
/// is drawn between half and one and a half of its mean, so that many clients do not return
/// together.
class Retry {
 public:
  Retry(const RetryPolicy& policy, const Timing& timing, const Log& log, std::string operation)
      : policy_{policy}, timing_{timing}, log_{log}, operation_{std::move(operation)} {
    progressed();
  }

  /// Resets the total time and the waits.
  void progressed() {
    deadline_ = timing_.now() + std::chrono::duration_cast<Clock::duration>(policy_.total);
    mean_ = policy_.first;
  }

  /// Excludes the time of an attempt from the time without progress.
  void allow(Clock::duration time) { deadline_ += time; }

  /// Waits before the next attempt, at least for `at_least`. Returns false without waiting if the
  /// total time would be exceeded, and returns false early when `Timing::stop` is requested. The
  /// caller then throws.
  [[nodiscard]] bool wait(const std::string& reason, std::optional<Seconds> at_least = {}) {
    if (timing_.stop.stop_requested()) return false;
    auto time = std::min(mean_, policy_.longest) * (0.5 + timing_.random());
    time = std::max(time, at_least.value_or(Seconds{}));
    if (timing_.now() + std::chrono::duration_cast<Clock::duration>(time) > deadline_) return false;
    mean_ *= 2;
    ++attempts_;
    if (log_) log_(operation_ + ": " + reason + "; trying again in " + shown(time));
    timing_.sleep(time, timing_.stop);
    return !timing_.stop.stop_requested();
  }

  /// Returns the number of attempts after the first.
  [[nodiscard]] int attempts() const noexcept { return attempts_; }

 private:
  static std::string shown(Seconds time) {
    const auto tenths = std::to_string(std::llround(time.count() * 10) + 100);
    const auto whole = std::to_string(std::llround(time.count() * 10) / 10);
    return whole + "." + tenths.back() + " s";
  }

  const RetryPolicy& policy_;
  const Timing& timing_;
  const Log& log_;
  std::string operation_;
  Clock::time_point deadline_;
  Seconds mean_{};
  int attempts_ = 0;
};

}  // namespace seqtrain::http
