#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <seqtrain/checkpoint/with_keeper.hpp>
#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/find_model.hpp>
#include <seqtrain/cli/local_dataset.hpp>
#include <seqtrain/cli/local_input.hpp>
#include <seqtrain/cli/run_settings.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/gcs/sink.hpp>
#include <seqtrain/gcs/uri.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/report/console.hpp>
#include <seqtrain/run/run_directory.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>

/// Finds the places of a program's inputs and results, which are directories or gs:// addresses. A
/// file that includes this header also compiles the storage client.
namespace seqtrain::cli {

/// Opens a place in a bucket. Throws `InputError` if it cannot be written.
inline gcs::Sink open_bucket(const std::string& place, const log::Log& log) {
  gcs::Sink bucket{place, {.client = {.log = log.warnings()}}};
  bucket.check_writable();
  return bucket;
}

/// Opens the sink that `--job-dir` names. If the flag is not given, opens the place in
/// `AIP_MODEL_DIR`, which a cloud job sets, or else a sink that keeps nothing. Throws `InputError`
/// if a bucket cannot be written.
inline sink::Any open_job_dir(std::string place, const log::Log& log) {
  if (place.empty()) place = CloudJob::from_environment().model_dir;
  if (place.empty()) return sink::Any{sink::Discard{}};
  if (!gcs::is_gs(place)) return sink::Any{sink::Directory{place}};
  return sink::Any{open_bucket(place, log)};
}

/// Returns the flags with local paths in place of the inputs' gs:// addresses and names on the hub.
/// Calls `check` with the flags when the examples are here, before the model is fetched.
inline TrainFlags with_local_inputs(TrainFlags flags, const log::Log& log,
                                    const std::function<void(const TrainFlags&)>& check = {}) {
  if (gcs::is_gs(flags.output_dir)) {
    throw InputError{"must be a local directory", {.object = "--output-dir"}, "see --job-dir"};
  }
  for (std::string* place : {&flags.train_file, &flags.dev_file, &flags.test_file}) {
    *place = local_inputs(*place, log);
  }
  use_dataset(flags, log);
  if (check) check(flags);
  flags.model = find_model(flags.model, log).directory.string();
  return flags;
}

/// Saves and resumes a program's run. Checkpoints are in `--checkpoint-dir`, by default in a folder
/// of the run's directory. If `--checkpoint-dir` is a bucket, each checkpoint is first written to
/// that folder.
class RunCheckpoints {
 public:
  /// `settings` are the result of `run_settings`. Throws `InputError` if the place cannot be used,
  /// or if a finished run is to be continued that has no checkpoint.
  RunCheckpoints(const TrainFlags& flags, const run::RunDirectory& run, train::Pairs settings,
                 train::Pairs versions, log::Log log)
      : log_{std::move(log)},
        replaced_{flags.replaces_checkpoints() ? std::optional{run} : std::nullopt},
        keeper_{local_directory(flags, run), open_remote(flags),
                options(flags, run, std::move(settings), std::move(versions), log_)} {
    std::error_code none;
    const bool finished =
        flags.continues_by_itself() && std::filesystem::exists(run.metrics(), none);
    if (finished && !flags.overwrite && keeper_.saved_settings().empty()) {
      throw InputError{"holds a finished run, but no checkpoint from which it could be continued",
                       {.object = run.path().string()},
                       "name another directory, or pass --overwrite to replace it; "
                       "--keep-last-checkpoint keeps a checkpoint"};
    }
  }

  [[nodiscard]] checkpoint::Checkpoints& keeper() { return keeper_; }

  /// Removes the checkpoints of the run that `--overwrite` replaces. They are removed only when the
  /// fit begins, so they stay if the new run is refused.
  void on(const train::FitBegin&) const {
    if (replaced_) replaced_->remove_checkpoints();
  }

  /// Removes the checkpoints of a finished run unless they are to be kept. Call it when the results
  /// of the run are safe.
  void finish(const TrainFlags& flags, const run::RunDirectory& run) const {
    const std::string& id = keeper_.run().id;
    if (!flags.keeps_checkpoints() && !id.empty()) run.remove_checkpoints_of(id);
  }

  /// Returns options for `StopSignals` with which the log says, when the grace time is over, what
  /// is not saved.
  [[nodiscard]] StopSignalsOptions stop_options(const TrainFlags& flags) const {
    return {.grace_seconds = flags.grace_seconds, .log = log_.warnings(), .unfinished = [this] {
              return keeper_.unfinished();
            }};
  }

  /// Throws `Error` if the newest checkpoint is not stored where it should be. Call it when the
  /// results of the run are safe.
  void check() const {
    if (!keeper_.problem().empty()) throw Error{keeper_.problem()};
  }

 private:
  static sink::Directory local_directory(const TrainFlags& flags, const run::RunDirectory& run) {
    const bool beside = flags.checkpoint_dir.empty() || gcs::is_gs(flags.checkpoint_dir);
    return sink::Directory{beside ? run.checkpoints()
                                  : std::filesystem::path{flags.checkpoint_dir}};
  }

  sink::Any* open_remote(const TrainFlags& flags) {
    if (!gcs::is_gs(flags.checkpoint_dir)) return nullptr;
    return &remote_.emplace(open_bucket(flags.checkpoint_dir, log_));
  }

  static train::CheckpointOptions options(const TrainFlags& flags, const run::RunDirectory& run,
                                          train::Pairs settings, train::Pairs versions,
                                          const log::Log& log) {
    const bool by_name = !flags.continues_by_itself() && !flags.begins_anew();
    return {.every = flags.checkpoint_every,
            .minutes = flags.checkpoint_minutes,
            .keep = flags.keep_checkpoints,
            .resume = by_name ? local_input(flags.resume, log).string() : flags.resume,
            .directory = run.checkpoints(),  // local copies of a bucket's checkpoints stay
            .settings = std::move(settings),
            .default_settings = TrainFlags::default_settings(),
            .settings_0_1 = {{"model", fingerprint(flags.model)}},
            .versions = std::move(versions),
            .log = report::notices_to(log)};
  }

  log::Log log_;
  std::optional<run::RunDirectory> replaced_;
  std::optional<sink::Any> remote_;
  checkpoint::Checkpoints keeper_;  // last: it uses the store
};

}  // namespace seqtrain::cli
