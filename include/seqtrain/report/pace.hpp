#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace seqtrain::report {

/// Measures the rate of work: examples and tokens over the time that was spent on them. `Clock` has
/// a static `now()`.
template <class Clock = std::chrono::steady_clock>
class Pace {
 public:
  /// Adds work that was done since the last call.
  void add(std::int64_t examples, std::int64_t tokens) {
    const auto now = Clock::now();
    seconds_ += std::chrono::duration<double>(now - mark_).count();
    mark_ = now;
    examples_ += examples;
    tokens_ += tokens;
  }

  /// Excludes the time since the last call.
  void rest() { mark_ = Clock::now(); }

  [[nodiscard]] double seconds() const { return seconds_; }
  /// Returns the rate, or NaN before the first call of `add`.
  [[nodiscard]] double examples_per_second() const { return per_second(examples_); }
  [[nodiscard]] double tokens_per_second() const { return per_second(tokens_); }

 private:
  [[nodiscard]] double per_second(std::int64_t count) const {
    if (seconds_ <= 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(count) / seconds_;
  }

  typename Clock::time_point mark_ = Clock::now();
  double seconds_ = 0;
  std::int64_t examples_ = 0;
  std::int64_t tokens_ = 0;
};

}  // namespace seqtrain::report
