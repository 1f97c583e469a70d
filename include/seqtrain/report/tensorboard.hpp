#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/report/event_file.hpp>
#include <seqtrain/report/logged_loss.hpp>
#include <seqtrain/report/pace.hpp>
#include <seqtrain/report/summary.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/selection.hpp>

namespace seqtrain::report {

/// Options of `TensorBoard`.
struct TensorBoardOptions {
  /// Most batches from one point of a curve to the next; 0: `usual_interval`.
  std::int64_t every = 0;
  double put_seconds = 60;  ///< time from one object to the next in a bucket
  train::Pairs flags = {};  ///< flags that were given, shown as hyperparameters and a table
  std::vector<std::string> labels = {};  ///< names of the labels, by index
  /// Returns figures of the machine, which become `machine/<name>`.
  std::function<std::vector<metrics::Figure>()> machine = {};
  /// Called once, with the reason, if events cannot be written.
  std::function<void(std::string_view)> warn = {};

  void validate() const {
    if (every >= 0 && put_seconds >= 0) return;
    throw InputError{"every and put_seconds must not be negative", {.object = "tensorboard"}};
  }
};

/// An observer that writes a run as event files for TensorBoard: curves of the loss (the mean since
/// the last point, as `LoggedLoss` has it), learning rate and speed, figures of each evaluation,
/// tables as texts, and hyperparameters. In a directory one file grows, and each event is handed to
/// the system at once; a bucket gets new objects from another thread. Give each fit a place of its
/// own: a fit that begins or resumes there makes TensorBoard drop the steps that are repeated. If
/// events cannot be written, training continues.
class TensorBoard {
 public:
  explicit TensorBoard(std::filesystem::path directory, TensorBoardOptions options = {})
      : options_{std::move(options)}, losses_{options_.every} {
    options_.validate();
    log_ = std::make_unique<EventFile>(std::move(directory), options_.warn);
  }

  explicit TensorBoard(sink::Any place, TensorBoardOptions options = {})
      : options_{std::move(options)}, losses_{options_.every} {
    options_.validate();
    if (const auto* directory = place.directory()) {
      log_ = std::make_unique<EventFile>(directory->root(), options_.warn);
    } else {
      const std::chrono::duration<double> interval{options_.put_seconds};
      log_ = std::make_unique<EventObjects>(std::move(place), interval, options_.warn);
    }
  }

  void on(const train::FitBegin& event) {
    const std::int64_t done = event.position.step;
    pace_ = {};
    losses_.begin(event);
    write(start_event(wall_time(), done == 0 ? 0 : done + 1));
    if (!options_.flags.empty()) {
      Rows rows{{"flag", "value"}};
      for (const auto& [name, value] : options_.flags) rows.push_back({name, value});
      write(done,
            Summary{}.text("flags", markdown_table(rows)).hparams(options_.flags, wall_time()));
    }
    log_->publish();
  }

  void on(const train::StepEnd& event) {
    pace_.add(event.examples, event.tokens);
    const auto loss = losses_.add(event);
    if (!loss) return;
    Summary summary;
    summary.scalar("train/loss", *loss).scalar("train/learning_rate", event.learning_rate);
    const double norm = event.gradient_norm();
    if (!std::isnan(norm)) summary.scalar("train/gradient_norm", norm);
    add(summary, std::exchange(pace_, {}));
    if (options_.machine) {
      for (const auto& [name, value] : options_.machine()) summary.scalar("machine/" + name, value);
    }
    write(event.step, summary);
  }

  void on(const train::EvalEnd& event) {
    const std::string split{event.split};
    const auto& report = event.report;
    Summary summary;
    summary.scalar(split + "/epoch", static_cast<double>(event.epoch));
    for (const auto& [name, value] : train::named_figures(report)) {
      summary.scalar(split + "/" + name, value);
    }
    for (std::size_t i = 0; i < report.labels.size(); ++i) {
      const std::string name = metrics::shown_label(options_.labels, i);
      summary.scalar(split + "_labels/precision/" + name, report.labels[i].precision)
          .scalar(split + "_labels/recall/" + name, report.labels[i].recall)
          .scalar(split + "_labels/f1/" + name, report.labels[i].f1);
    }
    add_tables(summary, split, report);
    write(event.step, summary);
    log_->publish();
    pace_.rest();
  }

  void on(const train::FitEnd& event) {
    if (!options_.flags.empty()) write(event.step, Summary{}.hparams_end(wall_time()));
    log_->finish();
  }

 private:
  /// The largest number of labels whose confusion matrix is written.
  static constexpr std::size_t most_confusion_labels = 50;

  static void add(Summary& summary, const Pace<>& pace) {
    if (pace.seconds() <= 0) return;
    summary.scalar("train/examples_per_second", pace.examples_per_second())
        .scalar("train/tokens_per_second", pace.tokens_per_second());
  }

  void add_tables(Summary& summary, const std::string& split,
                  const metrics::ClassificationReport& report) const {
    if (!has_labels(report.problem_type)) {
      auto rows = figures_rows(report);
      rows.insert(rows.begin(), {"", "value"});
      summary.text("results/" + split, markdown_table(rows));
      return;
    }
    summary.text("results/" + split, markdown_table(scores_rows(report, options_.labels)));
    const bool single = report.problem_type == ProblemType::single_label;
    if (!single || report.labels.empty() || report.labels.size() > most_confusion_labels) return;
    summary.text("confusion/" + split, markdown_table(confusion_rows(report, options_.labels)));
  }

  void write(std::int64_t step, const Summary& summary) {
    write(summary_event(wall_time(), step, summary));
  }

  void write(const Message& event) {
    std::string record;
    append_record(record, event.encoded());
    log_->append(record);
  }

  TensorBoardOptions options_;
  std::unique_ptr<EventLog> log_;
  LoggedLoss losses_;
  Pace<> pace_;
};

}  // namespace seqtrain::report
