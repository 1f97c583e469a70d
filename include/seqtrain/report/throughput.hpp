#pragma once

#include <chrono>
#include <cstdint>

#include <seqtrain/report/pace.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

/// An observer that measures examples and tokens a second over a fit's training steps, without
/// padding. The first steps, in which memory is set up and caches fill, do not count, and
/// evaluation does not.
template <class Clock = std::chrono::steady_clock>
class Throughput {
 public:
  static constexpr std::int64_t left_out = 5;

  void on(const train::FitBegin&) { *this = {}; }

  void on(const train::StepEnd& event) {
    if (++timed_ <= left_out) {
      pace_.rest();
    } else {
      pace_.add(event.examples, event.tokens);
    }
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
