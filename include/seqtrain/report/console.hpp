#pragma once

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <string>

#include <seqtrain/report/cadence.hpp>
#include <seqtrain/report/format.hpp>
#include <seqtrain/report/terminal.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

struct ConsoleOptions {
  std::int64_t every = 50;  ///< batches from one line to the next
  bool terminal = false;    ///< lines wipe what a progress bar left on theirs
};

/// Prints how a run goes, line by line: the loss at the first batch of an epoch, at every
/// `every`-th and at the last, and the figures after each evaluation.
class Console {
 public:
  explicit Console(const ConsoleOptions& options = {}, std::ostream& out = std::cout)
      : cadence_{options.every}, terminal_{options.terminal}, out_{&out} {}

  void on(const train::FitBegin& event) { cadence_.start_at(event.position); }

  void on(const train::StepEnd& event) {
    if (!cadence_.due(event)) return;
    const double percent =
        100 * static_cast<double>(event.batch) / static_cast<double>(event.batches);
    const std::string batches = std::to_string(event.batches);
    const std::size_t width = std::max<std::size_t>(4, batches.size());
    print("Progress: " + right(fixed(percent, 0), 3) +
          "% - Batch: " + right(std::to_string(event.batch), width) + "/" + left(batches, width) +
          " - Loss: " + fixed(event.loss(), 4));
  }

  void on(const train::Notice& event) { print(std::string{event.text}); }

  void on(const train::StepSkipped& event) {
    print("Skipped (" + std::to_string(event.skipped) + " so far): " + std::string{event.problem});
  }

  void on(const train::EvalEnd& event) {
    print("Epoch " + std::to_string(event.epoch) + " - " + std::string{event.split} +
          accuracy(event.report) + " loss: " + fixed(event.report.loss, 4) + figures(event.report) +
          " (" + std::to_string(event.report.examples) + " examples, " + fixed(event.seconds, 1) +
          " s)");
  }

 private:
  static std::string accuracy(const metrics::ClassificationReport& report) {
    if (!has_labels(report.problem_type)) return {};
    return " accuracy: " + fixed(report.accuracy, 4) + " -";
  }

  static std::string figures(const metrics::ClassificationReport& report) {
    std::string text;
    for (const auto& [name, value] : report.figures) text += " - " + name + ": " + fixed(value, 4);
    return text;
  }

  void print(const std::string& line) {
    if (terminal_) *out_ << clear_line;
    *out_ << line << std::endl;
  }

  Cadence cadence_;
  bool terminal_;
  std::ostream* out_;
};

}  // namespace seqtrain::report
