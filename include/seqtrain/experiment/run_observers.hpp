#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/experiment/run_checkpoints.hpp>
#include <seqtrain/log.hpp>
#include <seqtrain/machine.hpp>
#include <seqtrain/page.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/run/kept_predictions.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

/// The observers of a run: the program's log, a progress bar, train_log.jsonl, report.html,
/// TensorBoard's event files, the metric file of a tuning service, the measured rates and the use
/// of the machine. If several processes train together, only the first has them.
class RunObservers {
 public:
  /// The run that is observed.
  struct Options {
    const cli::TrainFlags& flags;
    const run::RunDirectory& run;
    RunCheckpoints& checkpoints;  ///< receives the events too
    train::Pairs hyperparameters;
    std::vector<std::string> labels;
    bool on_gpu;
    page::RunPageOptions page;
    const run::KeptPredictions& predictions;  ///< receives each event before the others
  };

  /// Creates an object that observes nothing.
  RunObservers() = default;

  RunObservers(const Options& options, const storage::Options& storages)
      : parts_{std::make_unique<Parts>(options, storages)} {}

  /// Passes an event of a fit or an evaluation on to each observer.
  template <class Event>
  void on(const Event& event) {
    if (!parts_) return;
    auto& [checkpoints, machine, console, bar, records, tensorboard, trials, throughput, page] =
        *parts_;
    train::notify(event, checkpoints, console, bar, records, trials, throughput, page);
    if (tensorboard) train::tell(*tensorboard, event);
  }

  /// Adds the measured figures to the results.
  void complete(run::Results& results) const {
    if (!parts_) return;
    results.train = parts_->throughput.figures();
    results.machine = parts_->machine.summary();
  }

  /// Writes the page of a finished run.
  void finish_page(const run::Results& results, bool test_is_dev, const page::Explain& explain) {
    if (!parts_) return;
    if (results.baseline) {
      parts_->page.compare(report::baseline_rows(*results.dev, *results.baseline),
                           report::baseline_warning(*results.dev, *results.baseline));
    }
    parts_->page.finish(results.calibration ? &*results.calibration : nullptr, test_is_dev, explain,
                        results.advice);
  }

  /// Returns a line about the use of the machine.
  [[nodiscard]] std::string describe_machine() const {
    return parts_ ? parts_->machine.describe() : "";
  }

 private:
  struct Parts {
    RunCheckpoints& checkpoints;
    machine::Machine machine;
    report::Console console;
    report::ProgressBar<> bar;
    report::JsonLines records;
    std::optional<report::TensorBoard> tensorboard;
    report::Trials trials;
    report::Throughput<> throughput = {};
    page::RunPage page;

    Parts(const Options& options, const storage::Options& storages)
        : checkpoints{options.checkpoints},
          machine{{.gpu = options.on_gpu, .log = storages.log.warnings()}},
          console{{.every = options.flags.log_every}, storages.log},
          bar{{.enabled = storages.log.on_terminal()}},
          records{options.run.log(),
                  {.every = options.flags.log_every,
                   .warn = storages.log.warnings(),
                   .machine = figures()}},
          tensorboard{open_tensorboard(options, storages)},
          trials{{.enabled = options.flags.hp_tune, .warn = storages.log.warnings()}},
          page{options.page, options.predictions} {}

    [[nodiscard]] std::function<std::vector<metrics::Figure>()> figures() const {
      return [this] { return machine.latest(); };
    }

    [[nodiscard]] std::optional<report::TensorBoard> open_tensorboard(
        const Options& options, const storage::Options& storages) const {
      const std::string& place = options.flags.logging_dir;
      if (place.empty()) return std::nullopt;
      report::TensorBoardOptions written{.every = options.flags.log_every,
                                         .flags = options.hyperparameters,
                                         .labels = options.labels,
                                         .machine = figures(),
                                         .warn = storages.log.warnings()};
      if (storage::is_local(place, storages)) {
        return std::optional<report::TensorBoard>{std::in_place, std::filesystem::path{place},
                                                  std::move(written)};
      }
      return std::optional<report::TensorBoard>{std::in_place, storage::open(place, storages),
                                                std::move(written)};
    }
  };

  std::unique_ptr<Parts> parts_;
};

}  // namespace seqtrain::experiment
