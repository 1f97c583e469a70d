#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/gcs/uri.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/gcs.hpp>
#include <seqtrain/train/observe.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/results.hpp>
#include <seqtrain/train/run_directory.hpp>

/// The observers of a run: the program's log, a progress bar, train_log.jsonl, TensorBoard's event
/// files, the metric file of a tuning service, the measured rates and the use of the machine.
class RunObservers {
 public:
  struct Options {
    const seqtrain::cli::TrainFlags& flags;
    const seqtrain::train::RunDirectory& run;
    seqtrain::train::Pairs hyperparameters;
    std::vector<std::string> labels;
    bool on_gpu;
  };

  RunObservers(const Options& options, const seqtrain::report::Log& log)
      : machine_{{.gpu = options.on_gpu, .log = log.warnings()}},
        console_{{.every = options.flags.log_every}, log},
        bar_{{.enabled = log.on_terminal()}},
        records_{options.run.log(),
                 {.every = options.flags.log_every, .warn = log.warnings(), .machine = figures()}},
        tensorboard_{tensorboard(options, log)},
        trials_{{.enabled = options.flags.reports_trial(), .warn = log.warnings()}} {}

  /// Passes an event of the fit, or of an evaluation, on to each of them.
  template <class Event>
  void on(const Event& event) {
    seqtrain::train::notify(event, console_, bar_, records_, trials_, throughput_);
    if (tensorboard_) seqtrain::train::tell(*tensorboard_, event);
  }

  /// Adds what was measured to the results.
  void complete(seqtrain::train::Results& results) const {
    results.train = throughput_.figures();
    results.machine = machine_.summary();
  }

  /// Returns a line about the use of the machine.
  [[nodiscard]] std::string describe_machine() const { return machine_.describe(); }

 private:
  using Figures = std::function<std::vector<seqtrain::metrics::Figure>()>;

  [[nodiscard]] Figures figures() const {
    return [this] { return machine_.latest(); };
  }

  [[nodiscard]] std::optional<seqtrain::report::TensorBoard> tensorboard(
      const Options& options, const seqtrain::report::Log& log) const {
    const std::string& place = options.flags.logging_dir;
    if (place.empty()) return std::nullopt;
    seqtrain::report::TensorBoardOptions written{.every = options.flags.log_every,
                                                 .flags = options.hyperparameters,
                                                 .labels = options.labels,
                                                 .machine = figures(),
                                                 .warn = log.warnings()};
    if (!seqtrain::gcs::is_gs(place)) {
      return std::optional<seqtrain::report::TensorBoard>{
          std::in_place, std::filesystem::path{place}, std::move(written)};
    }
    seqtrain::sink::Any bucket{seqtrain::sink::Gcs{place, {.client = {.log = log.warnings()}}}};
    return std::optional<seqtrain::report::TensorBoard>{std::in_place, std::move(bucket),
                                                        std::move(written)};
  }

  seqtrain::report::Machine machine_;
  seqtrain::report::Console console_;
  seqtrain::report::ProgressBar<> bar_;
  seqtrain::report::JsonLines records_;
  std::optional<seqtrain::report::TensorBoard> tensorboard_;
  seqtrain::report::Trials trials_;
  seqtrain::report::Throughput<> throughput_;
};
