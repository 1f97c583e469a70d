#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/http/timing.hpp>

namespace seqtrain::http {

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
