#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/stopped.hpp>

namespace seqtrain::experiment {

/// The stop signals of a program of several runs. They count from its beginning to its end, also
/// while a run loads its model and between two runs.
class SeriesSignals {
 public:
  SeriesSignals(const cli::TrainFlags& flags, const log::Log& log)
      : signals_{{.grace_seconds = flags.grace_seconds,
                  .log = log.warnings(),
                  .unfinished = [this] { return unfinished(); }}} {}

  [[nodiscard]] std::stop_token token() const { return signals_.token(); }

  /// Throws `train::Stopped` if a signal has arrived. Call it where the program can be continued.
  void check() const {
    if (token().stop_requested()) throw train::Stopped{"stopped between the steps of several runs"};
  }

  /// Sets the function that tells what the current run has not saved yet. Without it nothing
  /// is told.
  void set_unfinished(std::function<std::string()> tell) {
    const std::lock_guard lock{mutex_};
    unfinished_ = std::move(tell);
  }

 private:
  std::string unfinished() {
    const std::lock_guard lock{mutex_};
    return unfinished_ ? unfinished_() : std::string{};
  }

  std::mutex mutex_;
  std::function<std::string()> unfinished_;
  cli::StopSignals signals_;  // last: its thread calls unfinished()
};

/// The stop signals of a run: its own, or those of the program of several runs that it belongs to.
class RunSignals {
 public:
  /// Throws `train::Stopped` if a signal has arrived while the run was prepared. `series` may be
  /// null, else it must outlive this object.
  RunSignals(SeriesSignals* series, cli::StopSignalsOptions options) : series_{series} {
    if (series_ == nullptr) {
      own_.emplace(std::move(options));
      return;
    }
    series_->check();
    series_->set_unfinished(std::move(options.unfinished));
  }
  RunSignals(const RunSignals&) = delete;
  RunSignals& operator=(const RunSignals&) = delete;
  ~RunSignals() {
    if (series_ != nullptr) series_->set_unfinished({});
  }

  [[nodiscard]] std::stop_token token() const {
    return series_ == nullptr ? own_->token() : series_->token();
  }

 private:
  SeriesSignals* series_;
  std::optional<cli::StopSignals> own_;
};

/// Returns the flags of a program of several runs. Throws `InputError` with `advice` if they name
/// no training file.
inline const cli::TrainFlags& demand_train_file(const cli::TrainFlags& flags,
                                                const std::string& advice) {
  if (!flags.train_file.empty() || !flags.dataset.empty()) return flags;
  throw InputError{"is needed", {.object = "--train-file"}, advice};
}

/// Throws the error for a file of several runs, such as tune.json, whose directory is neither to be
/// continued nor to be replaced. `what` is as in `check_settings`.
[[noreturn]] inline void refuse_to_replace(const std::filesystem::path& file,
                                           const std::string& what) {
  throw InputError{"already holds " + what + ": " + file.filename().string() + " is there",
                   {.object = file.parent_path().string()},
                   "name another directory, or pass --overwrite to replace it or --resume auto to "
                   "continue it"};
}

/// Throws `InputError` unless `settings` are those in a file. `what`, such as "a tuning", names
/// what the file belongs to.
inline void check_settings(const std::filesystem::path& file, const train::Pairs& settings,
                           const std::string& what) {
  const auto document = json::Document::load(file);
  const auto had = train::pairs_in(document.root(), "settings");
  const auto text = [](const std::string& value) {
    return value == "nan" ? "" : value;  // a flag without a value may not have been there yet
  };
  for (const auto& [name, value] : settings) {
    if (text(train::value_in(had, name)) == text(value)) continue;
    throw InputError{"belongs to " + what + " with another " + name,
                     {.object = file.string()},
                     "name another --output-dir, or pass --overwrite without --resume"};
  }
}

}  // namespace seqtrain::experiment
