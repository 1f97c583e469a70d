#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/report/logged_loss.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

/// Returns a function that writes the notices of a fit into a log.
[[nodiscard]] SEQTRAIN_SEPARATE std::function<void(const train::Notice&)> notices_to(log::Log log);

/// Options of `Console`.
struct ConsoleOptions {
  std::int64_t every = 0;  ///< most batches from one line to the next; 0: `usual_interval`
};

/// An observer that writes the course of a run to a log: the mean loss since the last line, as
/// `LoggedLoss` has it, and the figures after each evaluation. Without a log the lines go to
/// stdout.
class Console {
 public:
  explicit Console(const ConsoleOptions& options = {}, log::Log log = log::Log{});

  void on(const train::FitBegin& event);

  void on(const train::StepEnd& event);

  void on(const train::Notice& event) const;

  void on(const train::StepSkipped& event) const;

  void on(const train::EvalBegin& event) const;

  void on(const train::EvalEnd& event) const;

 private:
  /// Returns an evaluation's name with its epoch and step.
  template <class Event>
  static log::Fields point_of(const Event& event) {
    return {{"split", event.split}, {"epoch", event.epoch}, {"step", event.step}};
  }

  /// Returns `Dev accuracy after epoch 2: 0.7500`.
  static std::string figure(const train::EvalEnd& event, const std::string& name, double value);

  LoggedLoss losses_;
  log::Log log_;
};

}  // namespace seqtrain::report

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/report/src/console.hpp>
#endif
