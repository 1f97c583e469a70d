#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <seqtrain/report/cadence.hpp>
#include <seqtrain/report/format.hpp>
#include <seqtrain/report/log.hpp>
#include <seqtrain/report/notices.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

/// Options of `Console`.
struct ConsoleOptions {
  std::int64_t every = 50;  ///< batches from one line to the next
};

/// Tells a log how a run goes: the loss at the first batch of an epoch, at every `every`-th and at
/// the last, and the figures after each evaluation. Without a log the lines go to stdout.
class Console {
 public:
  explicit Console(const ConsoleOptions& options = {}, Log log = Log{})
      : cadence_{options.every}, log_{std::move(log)} {}

  void on(const train::FitBegin& event) { cadence_.start_at(event.position); }

  void on(const train::StepEnd& event) {
    if (!cadence_.due(event)) return;
    const double percent =
        100 * static_cast<double>(event.batch) / static_cast<double>(event.batches);
    const double loss = event.loss();
    const std::string batches = std::to_string(event.batches);
    const std::size_t width = std::max<std::size_t>(4, batches.size());
    log_.info("Progress: " + right(fixed(percent, 0), 3) +
                  "% - Batch: " + right(std::to_string(event.batch), width) + "/" +
                  left(batches, width) + " - Loss: " + fixed(loss, 4),
              {{"step", event.step},
               {"epoch", event.epoch},
               {"loss", loss},
               {"learning_rate", event.learning_rate}});
  }

  void on(const train::Notice& event) const { notices_to(log_)(event); }

  void on(const train::StepSkipped& event) const {
    log_.warning(
        "Skipped (" + std::to_string(event.skipped) + " so far): " + std::string{event.problem},
        {{"step", event.step}});
  }

  void on(const train::EvalEnd& event) const {
    const auto& report = event.report;
    Fields fields{{"split", event.split},        {"epoch", event.epoch},
                  {"step", event.step},          {"loss", report.loss},
                  {"examples", report.examples}, {"seconds", event.seconds}};
    if (has_labels(report.problem_type)) fields.emplace_back("accuracy", report.accuracy);
    for (const auto& [name, value] : report.figures) fields.emplace_back(name, value);
    log_.info("Epoch " + std::to_string(event.epoch) + " - " + std::string{event.split} +
                  accuracy(report) + " loss: " + fixed(report.loss, 4) + figures(report) + " (" +
                  std::to_string(report.examples) + " examples, " + fixed(event.seconds, 1) + " s)",
              fields);
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

  Cadence cadence_;
  Log log_;
};

}  // namespace seqtrain::report
