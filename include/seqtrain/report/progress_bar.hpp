#pragma once

#include <chrono>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <string>

#include <seqtrain/log/bar.hpp>
#include <seqtrain/report/pace.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

/// An observer that shows on a terminal how far a run or an evaluation is, its examples and tokens
/// a second, and the time left. A log on that terminal must have `LogOptions::terminal` set.
template <class Clock = std::chrono::steady_clock>
class ProgressBar {
 public:
  explicit ProgressBar(const log::BarOptions& options = {}, std::ostream& out = std::cout)
      : bar_{options, out} {}

  void on(const train::FitBegin& event) {
    training_ = {};
    before_ = event.position.step;
  }

  void on(const train::StepEnd& event) {
    training_.add(event.examples, event.tokens);
    draw("train", event.step, event.steps, training_, before_);
  }

  void on(const train::EvalStep& event) {
    if (event.batch == 1) {
      evaluation_ = {};  // its clock begins here, so the first batch is not counted
    } else {
      evaluation_.add(event.examples, event.tokens);
    }
    draw(std::string{event.split}, event.batch - 1, event.batches - 1, evaluation_);
  }

  void on(const train::EvalEnd&) {
    bar_.clear();
    training_.rest();
  }

  void on(const train::FitEnd&) { bar_.clear(); }

 private:
  void draw(const std::string& name, std::int64_t done, std::int64_t total, const Pace<Clock>& pace,
            std::int64_t before = 0) {
    if (!bar_.enabled()) return;
    bar_.draw({.name = name,
               .done = done,
               .total = total,
               .before = before,
               .seconds = pace.seconds(),
               .rates = {{.per_second = pace.examples_per_second(), .unit = "examples/s"},
                         {.per_second = pace.tokens_per_second(), .unit = "tokens/s"}}});
  }

  log::Bar<Clock> bar_;
  Pace<Clock> training_;
  Pace<Clock> evaluation_;
  std::int64_t before_ = 0;  ///< steps that the run had taken when this process took it up
};

}  // namespace seqtrain::report
