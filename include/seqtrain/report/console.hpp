#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <seqtrain/log/format.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/report/logged_loss.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

/// Returns a function that writes the notices of a fit into a log.
[[nodiscard]] inline std::function<void(const train::Notice&)> notices_to(log::Log log) {
  return [log = std::move(log)](const train::Notice& notice) {
    log.write(notice.warning ? log::Severity::warning : log::Severity::info, notice.text);
  };
}

/// Options of `Console`.
struct ConsoleOptions {
  std::int64_t every = 0;  ///< most batches from one line to the next; 0: `usual_interval`
};

/// An observer that writes the course of a run to a log: the mean loss since the last line, as
/// `LoggedLoss` has it, and the figures after each evaluation. Without a log the lines go to
/// stdout.
class Console {
 public:
  explicit Console(const ConsoleOptions& options = {}, log::Log log = log::Log{})
      : losses_{options.every}, log_{std::move(log)} {}

  void on(const train::FitBegin& event) { losses_.begin(event); }

  void on(const train::StepEnd& event) {
    const auto loss = losses_.add(event);
    if (!loss) return;
    const double percent =
        100 * static_cast<double>(event.batch) / static_cast<double>(event.batches);
    const std::string batches = std::to_string(event.batches);
    const std::size_t width = std::max<std::size_t>(4, batches.size());
    log_.info("Progress: " + log::right(log::fixed(percent, 0), 3) +
                  "% - Batch: " + log::right(std::to_string(event.batch), width) + "/" +
                  log::left(batches, width) + " - Loss: " + log::fixed(*loss, 4),
              {{"step", event.step},
               {"epoch", event.epoch},
               {"loss", *loss},
               {"gradient_norm", event.gradient_norm()},
               {"learning_rate", event.learning_rate}});
  }

  void on(const train::Notice& event) const { notices_to(log_)(event); }

  void on(const train::StepSkipped& event) const {
    log_.warning(
        "Skipped (" + std::to_string(event.skipped) + " so far): " + std::string{event.problem},
        {{"step", event.step}});
  }

  void on(const train::EvalBegin& event) const {
    log_.info("Starting evaluation...", point_of(event));
  }

  void on(const train::EvalEnd& event) const {
    log_.info("Done evaluation", point_of(event));
    const auto& report = event.report;
    log::Fields fields = point_of(event);
    if (has_labels(report.problem_type)) {
      fields.emplace_back("accuracy", report.accuracy);
      log_.info(figure(event, "accuracy", report.accuracy), fields);
    }
    fields.emplace_back("loss", report.loss);
    std::string text = figure(event, "loss", report.loss);
    for (const auto& [name, value] : report.figures) {
      fields.emplace_back(name, value);
      text += " - " + name + ": " + log::fixed(value, 4);
    }
    fields.emplace_back("examples", report.examples);
    fields.emplace_back("seconds", event.seconds);
    log_.info(text + " (" + std::to_string(report.examples) + " examples, " +
                  log::fixed(event.seconds, 1) + " s)",
              fields);
  }

 private:
  /// Returns an evaluation's name with its epoch and step.
  template <class Event>
  static log::Fields point_of(const Event& event) {
    return {{"split", event.split}, {"epoch", event.epoch}, {"step", event.step}};
  }

  /// Returns `Dev accuracy after epoch 2: 0.7500`.
  static std::string figure(const train::EvalEnd& event, const std::string& name, double value) {
    std::string split{event.split};
    if (!split.empty() && split[0] >= 'a' && split[0] <= 'z') split[0] -= 'a' - 'A';
    return split + " " + name + " after epoch " + std::to_string(event.epoch) + ": " +
           log::fixed(value, 4);
  }

  LoggedLoss losses_;
  log::Log log_;
};

}  // namespace seqtrain::report
