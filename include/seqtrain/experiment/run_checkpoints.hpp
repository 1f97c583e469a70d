#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <seqtrain/checkpoint/checkpoints.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/experiment/run_settings.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/storage/open.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>

namespace seqtrain::experiment {

/// Saves and resumes a program's run. Checkpoints are in `--checkpoint-dir`, by default in a folder
/// of the run's directory. If `--checkpoint-dir` is in another storage, each checkpoint is first
/// written to that folder.
class RunCheckpoints {
  using TrainFlags = cli::TrainFlags;
  using RunDirectory = run::RunDirectory;
  using Pairs = train::Pairs;

 public:
  /// `settings` are the result of `run_settings`. Throws `InputError` if the place cannot be used,
  /// or if a finished run is to be continued that has no checkpoint.
  RunCheckpoints(const TrainFlags& flags, const RunDirectory& run, Pairs settings, Pairs versions,
                 storage::Options storages)
      : storages_{std::move(storages)},
        replaced_{flags.replaces_checkpoints() ? std::optional{run} : std::nullopt},
        checkpointer_{local_directory(flags, run), open_remote(flags),
                      options(flags, run, std::move(settings), std::move(versions))} {
    std::error_code none;
    const bool finished =
        flags.continues_by_itself() && std::filesystem::exists(run.metrics(), none);
    if (finished && !flags.overwrite && checkpointer_.saved_settings().empty()) {
      throw InputError{"holds a finished run, but no checkpoint from which it could be continued",
                       {.object = run.path().string()},
                       "name another directory, or pass --overwrite to replace it; "
                       "--keep-last-checkpoint keeps a checkpoint"};
    }
  }

  [[nodiscard]] checkpoint::Checkpoints& checkpointer() { return checkpointer_; }

  /// Locks the run's directory and the one of the checkpoints until this object ends. Call it
  /// before files of a killed run are removed. Throws `InputError` if another program has locked
  /// one of them.
  void lock(const RunDirectory& run) {
    output_lock_.emplace(run.lock());
    checkpointer_.lock();
  }

  /// Removes the checkpoints of the run that `--overwrite` replaces. They are removed only when the
  /// fit begins, so they stay if the new run is refused.
  void on(const train::FitBegin&) const {
    if (replaced_) replaced_->remove_checkpoints();
  }

  /// Removes the checkpoints of a finished run unless they are to be kept. Call it when the results
  /// of the run are safe. A part of several runs leaves no model, and so no checkpoints anywhere.
  void finish(const TrainFlags& flags, const RunDirectory& run) {
    const std::string& id = checkpointer_.run().id;
    if (id.empty()) return;
    if (flags.is_part()) return checkpointer_.remove_run();
    if (!flags.keeps_checkpoints()) run.remove_checkpoints_of(id);
  }

  /// Returns options for `StopSignals` with which the log says, when the grace time is over, what
  /// is not saved.
  [[nodiscard]] cli::StopSignalsOptions stop_options(const TrainFlags& flags) const {
    return {.grace_seconds = flags.grace_seconds,
            .log = storages_.log.warnings(),
            .unfinished = [this] { return checkpointer_.unfinished(); }};
  }

  /// Throws `Error` if the newest checkpoint is not stored where it should be. Call it when the
  /// results of the run are safe.
  void check() const {
    if (!checkpointer_.problem().empty()) throw Error{checkpointer_.problem()};
  }

 private:
  [[nodiscard]] sink::Directory local_directory(const TrainFlags& flags,
                                                const RunDirectory& run) const {
    const std::string& place = flags.checkpoint_dir;
    const bool beside = place.empty() || !storage::is_local(place, storages_);
    return sink::Directory{beside ? run.checkpoints() : std::filesystem::path{place}};
  }

  sink::Any* open_remote(const TrainFlags& flags) {
    if (storage::is_local(flags.checkpoint_dir, storages_)) return nullptr;
    return &remote_.emplace(storage::open_writable(flags.checkpoint_dir, storages_));
  }

  [[nodiscard]] train::CheckpointOptions options(const TrainFlags& flags, const RunDirectory& run,
                                                 Pairs settings, Pairs versions) const {
    const bool by_name = !flags.continues_by_itself() && !flags.begins_anew();
    return {.every = flags.checkpoint_every,
            .minutes = flags.checkpoint_minutes,
            .keep = flags.keep_checkpoints,
            .resume = by_name ? storage::fetch(flags.resume, storages_).string() : flags.resume,
            .directory = run.checkpoints(),  // local copies of a bucket's checkpoints stay
            .settings = std::move(settings),
            .versions = std::move(versions),
            .log = report::notices_to(storages_.log)};
  }

  storage::Options storages_;
  std::optional<FileLock> output_lock_;
  std::optional<RunDirectory> replaced_;
  std::optional<sink::Any> remote_;
  checkpoint::Checkpoints checkpointer_;  // last: it uses the store
};

}  // namespace seqtrain::experiment
