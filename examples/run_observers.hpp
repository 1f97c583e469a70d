#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/gcs/sink.hpp>
#include <seqtrain/gcs/uri.hpp>
#include <seqtrain/log.hpp>
#include <seqtrain/machine.hpp>
#include <seqtrain/page.hpp>
#include <seqtrain/report.hpp>
#include <seqtrain/run/answers.hpp>
#include <seqtrain/run/results.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>

#include "run_checkpoints.hpp"

/// The observers of a run: the program's log, a progress bar, train_log.jsonl, report.html,
/// TensorBoard's event files, the metric file of a tuning service, the measured rates and the use
/// of the machine. If several processes train together, only the first has them.
class RunObservers {
 public:
  struct Options {
    const seqtrain::cli::TrainFlags& flags;
    const seqtrain::run::RunDirectory& run;
    RunCheckpoints& checkpoints;  ///< receives the events too
    seqtrain::train::Pairs hyperparameters;
    std::vector<std::string> labels;
    bool on_gpu;
    seqtrain::page::RunPageOptions page;
    const seqtrain::run::AnswerKeeper& answers;  ///< receives each event before the others
  };

  /// Creates an object that observes nothing.
  RunObservers() = default;

  RunObservers(const Options& options, const seqtrain::log::Log& log)
      : parts_{std::make_unique<Parts>(options, log)} {}

  /// Passes an event of a fit or an evaluation on to each observer.
  template <class Event>
  void on(const Event& event) {
    if (!parts_) return;
    auto& [checkpoints, machine, console, bar, records, tensorboard, trials, throughput, page] =
        *parts_;
    seqtrain::train::notify(event, checkpoints, console, bar, records, trials, throughput, page);
    if (tensorboard) seqtrain::train::tell(*tensorboard, event);
  }

  /// Adds the measured figures to the results.
  void complete(seqtrain::run::Results& results) const {
    if (!parts_) return;
    results.train = parts_->throughput.figures();
    results.machine = parts_->machine.summary();
  }

  /// Writes the page of a finished run.
  void finish_page(const seqtrain::run::Results& results, bool test_is_dev,
                   const seqtrain::page::RunPage::Explain& explain) {
    if (!parts_) return;
    parts_->page.finish(results.calibration ? &*results.calibration : nullptr, test_is_dev,
                        explain);
  }

  /// Returns a line about the use of the machine.
  [[nodiscard]] std::string describe_machine() const {
    return parts_ ? parts_->machine.describe() : "";
  }

 private:
  struct Parts {
    RunCheckpoints& checkpoints;
    seqtrain::machine::Machine machine;
    seqtrain::report::Console console;
    seqtrain::report::ProgressBar<> bar;
    seqtrain::report::JsonLines records;
    std::optional<seqtrain::report::TensorBoard> tensorboard;
    seqtrain::report::Trials trials;
    seqtrain::report::Throughput<> throughput = {};
    seqtrain::page::RunPage page;

    Parts(const Options& options, const seqtrain::log::Log& log)
        : checkpoints{options.checkpoints},
          machine{{.gpu = options.on_gpu, .log = log.warnings()}},
          console{{.every = options.flags.log_every}, log},
          bar{{.enabled = log.on_terminal()}},
          records{options.run.log(),
                  {.every = options.flags.log_every, .warn = log.warnings(), .machine = figures()}},
          tensorboard{open_tensorboard(options, log)},
          trials{{.enabled = options.flags.hp_tune, .warn = log.warnings()}},
          page{options.page, options.answers} {}

    [[nodiscard]] std::function<std::vector<seqtrain::metrics::Figure>()> figures() const {
      return [this] { return machine.latest(); };
    }

    [[nodiscard]] std::optional<seqtrain::report::TensorBoard> open_tensorboard(
        const Options& options, const seqtrain::log::Log& log) const {
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
      seqtrain::sink::Any bucket{seqtrain::gcs::Sink{place, {.client = {.log = log.warnings()}}}};
      return std::optional<seqtrain::report::TensorBoard>{std::in_place, std::move(bucket),
                                                          std::move(written)};
    }
  };

  std::unique_ptr<Parts> parts_;
};
