#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <seqtrain/log/format.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/metrics/regression.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/train/events.hpp>

namespace seqtrain::report {

SEQTRAIN_SEPARATE std::function<void(const train::Notice&)> notices_to(log::Log log) {
  return [log = std::move(log)](const train::Notice& notice) {
    log.write(notice.warning ? log::Severity::warning : log::Severity::info, notice.text);
  };
}

SEQTRAIN_SEPARATE Console::Console(const ConsoleOptions& options, log::Log log)
    : losses_{options.every}, log_{std::move(log)} {}

SEQTRAIN_SEPARATE void Console::on(const train::FitBegin& event) {
  losses_.begin(event);
}

SEQTRAIN_SEPARATE void Console::on(const train::StepEnd& event) {
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

SEQTRAIN_SEPARATE void Console::on(const train::Notice& event) const {
  notices_to(log_)(event);
}

SEQTRAIN_SEPARATE void Console::on(const train::StepSkipped& event) const {
  log_.warning(
      "Skipped (" + std::to_string(event.skipped) + " so far): " + std::string{event.problem},
      {{"step", event.step}});
}

SEQTRAIN_SEPARATE void Console::on(const train::EvalBegin& event) const {
  log_.info("Starting evaluation...", point_of(event));
}

SEQTRAIN_SEPARATE void Console::on(const train::EvalEnd& event) const {
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
    const bool is_hidden = metrics::is_target_figure(name, report.targets);
    if (!is_hidden) text += " - " + name + ": " + log::fixed(value, 4);
  }
  fields.emplace_back("examples", report.examples);
  fields.emplace_back("seconds", event.seconds);
  log_.info(text + " (" + std::to_string(report.examples) + " examples, " +
                log::fixed(event.seconds, 1) + " s)",
            fields);
}

SEQTRAIN_SEPARATE std::string Console::figure(const train::EvalEnd& event, const std::string& name,
                                              double value) {
  std::string split{event.split};
  if (!split.empty() && split[0] >= 'a' && split[0] <= 'z') split[0] -= 'a' - 'A';
  return split + " " + name + " after epoch " + std::to_string(event.epoch) + ": " +
         log::fixed(value, 4);
}

}  // namespace seqtrain::report
