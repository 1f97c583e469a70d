#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/cli/run_settings.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/cache_directory.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/report/log.hpp>
#include <seqtrain/report/notices.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/gcs.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/events.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/run_directory.hpp>
#include <seqtrain/train/with_keeper.hpp>

/// The places of a program's inputs and results: directories, or gs:// addresses. A file that
/// includes this also compiles the storage client.
namespace seqtrain::cli {

/// Returns a local path as it is, or the path of a verified local copy of what a gs:// address
/// names. Throws `InputError` if that does not exist or may not be read. Retries are logged.
inline std::filesystem::path local_input(const std::string& place, const report::Log& log) {
  return gcs::localize(place, cache_directory(), log.warnings());
}

/// Returns the flags with paths of local copies instead of gs:// addresses of inputs.
inline TrainFlags with_local_inputs(TrainFlags flags, const report::Log& log) {
  if (gcs::is_gs(flags.output_dir)) {
    throw InputError{"must be a local directory", {.object = "--output-dir"}, "see --job-dir"};
  }
  for (std::string* place : {&flags.model, &flags.train_file, &flags.dev_file, &flags.test_file}) {
    *place = local_input(*place, log).string();
  }
  return flags;
}

/// Opens a place in a bucket. Throws `InputError` if it cannot be written.
inline sink::Gcs open_bucket(const std::string& place, const report::Log& log) {
  sink::Gcs bucket{place, {.client = {.log = log.warnings()}}};
  bucket.check_writable();
  return bucket;
}

/// Opens the sink that `--job-dir` names; if it is not given, the one in `AIP_MODEL_DIR`, which a
/// cloud job sets; else one that keeps nothing. Throws `InputError` if a bucket cannot be written.
inline sink::Any open_job_dir(std::string place, const report::Log& log) {
  if (place.empty()) place = CloudJob::from_environment().model_dir;
  if (place.empty()) return sink::Any{sink::Discard{}};
  if (!gcs::is_gs(place)) return sink::Any{sink::Directory{place}};
  return sink::Any{open_bucket(place, log)};
}

/// Saves and continues a program's run: checkpoints are in `--checkpoint-dir`, by default in a
/// folder of the run's directory. If `--checkpoint-dir` is a bucket, they reach that folder first.
class RunCheckpoints {
 public:
  /// `settings` are those of `run_settings`. Throws `InputError` if the place cannot be used.
  RunCheckpoints(const TrainFlags& flags, const train::RunDirectory& run, train::Pairs settings,
                 train::Pairs versions, report::Log log)
      : log_{std::move(log)},
        replaced_{flags.replaces_checkpoints() ? std::optional{run} : std::nullopt},
        keeper_{local_directory(flags, run), open_remote(flags),
                options(flags, run, std::move(settings), std::move(versions), log_)} {}

  [[nodiscard]] train::Checkpoints& keeper() { return keeper_; }

  /// Removes the checkpoints of the run that `--overwrite` replaces. This is an observer of the
  /// fit, so that they stay if the new run is refused.
  void on(const train::FitBegin&) const {
    if (replaced_) replaced_->remove_checkpoints();
  }

  /// Returns options for `StopSignals`: when the grace time is over, the log says what is missing.
  [[nodiscard]] StopSignalsOptions stop_options(const TrainFlags& flags) const {
    return {.grace_seconds = flags.grace_seconds, .log = log_.warnings(), .unfinished = [this] {
              return keeper_.unfinished();
            }};
  }

  /// Throws `Error` if the newest checkpoint is not where it should be. Call it when the results of
  /// the run are safe.
  void check() const {
    if (!keeper_.problem().empty()) throw Error{keeper_.problem()};
  }

 private:
  static sink::Directory local_directory(const TrainFlags& flags, const train::RunDirectory& run) {
    const bool beside = flags.checkpoint_dir.empty() || gcs::is_gs(flags.checkpoint_dir);
    return sink::Directory{beside ? run.checkpoints()
                                  : std::filesystem::path{flags.checkpoint_dir}};
  }

  sink::Any* open_remote(const TrainFlags& flags) {
    if (!gcs::is_gs(flags.checkpoint_dir)) return nullptr;
    return &remote_.emplace(open_bucket(flags.checkpoint_dir, log_));
  }

  static train::CheckpointOptions options(const TrainFlags& flags, const train::RunDirectory& run,
                                          train::Pairs settings, train::Pairs versions,
                                          const report::Log& log) {
    const bool by_name = flags.resume != "auto" && flags.resume != "never";
    return {.every = flags.checkpoint_every,
            .minutes = flags.checkpoint_minutes,
            .keep = flags.keep_checkpoints,
            .resume = by_name ? local_input(flags.resume, log).string() : flags.resume,
            .directory = run.checkpoints(),  // copies of a bucket's checkpoints stay
            .settings = std::move(settings),
            .settings_0_1 = {{"model", fingerprint_before_0_2(flags.model)}},
            .versions = std::move(versions),
            .log = report::notices_to(log)};
  }

  report::Log log_;
  std::optional<train::RunDirectory> replaced_;
  std::optional<sink::Any> remote_;
  train::Checkpoints keeper_;  // last: it uses the store
};

}  // namespace seqtrain::cli
