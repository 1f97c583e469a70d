#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

#include <seqtrain/run/fit_figures.hpp>
#include <seqtrain/train/events.hpp>

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

/// An observer that measures examples and tokens a second over a fit's training steps, without
/// padding. The first steps, in which memory is set up and caches fill, do not count, and
/// evaluation does not.
template <class Clock = std::chrono::steady_clock>
class Throughput {
 public:
  static constexpr std::int64_t left_out = 5;

  void on(const train::FitBegin&) { *this = {}; }

  void on(const train::StepEnd& event) {
    ++timed_ <= left_out ? pace_.rest() : pace_.add(event.examples, event.tokens);
  }

  void on(const train::EvalEnd&) { pace_.rest(); }
  void on(const train::FitEnd& event) {
    seconds_ = event.seconds;
    steps_ = event.step;
  }

  /// Returns the rates, which are NaN if the fit had too few steps to be measured.
  [[nodiscard]] run::FitFigures figures() const {
    return {.examples_per_second = pace_.examples_per_second(),
            .tokens_per_second = pace_.tokens_per_second(),
            .seconds = seconds_,
            .steps = steps_};
  }

 private:
  Pace<Clock> pace_;
  std::int64_t timed_ = 0;  ///< steps of this process
  std::int64_t steps_ = 0;
  double seconds_ = 0;
};

}  // namespace seqtrain::report
