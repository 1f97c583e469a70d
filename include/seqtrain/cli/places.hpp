#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <seqtrain/cli/run_settings.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/core/cache_directory.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/report/say.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/gcs.hpp>
#include <seqtrain/train/checkpoint_options.hpp>
#include <seqtrain/train/pairs.hpp>
#include <seqtrain/train/run_directory.hpp>
#include <seqtrain/train/with_keeper.hpp>

/// Where a program's inputs come from and its results go: directories, or gs:// addresses. Costs a
/// file the compilation of the storage client.
namespace seqtrain::cli {

/// A path as it is, or the verified local copy of what it names in a bucket. Throws `InputError`
/// for what is not there or may not be read. `log` hears of retries.
inline std::filesystem::path local_input(const std::string& place, const gcs::Log& log) {
  return gcs::localize(place, cache_directory(), log);
}

/// The flags with local copies in the place of what they name in buckets.
inline TrainFlags with_local_inputs(TrainFlags flags) {
  if (gcs::is_gs(flags.output_dir)) {
    throw InputError{"must be a local directory", {.object = "--output-dir"}, "see --job-dir"};
  }
  for (std::string* place : {&flags.model, &flags.train_file, &flags.dev_file, &flags.test_file}) {
    *place = local_input(*place, report::say).string();
  }
  return flags;
}

/// A place in a bucket that can be written. Throws `InputError` where it cannot.
inline sink::Gcs open_bucket(const std::string& place) {
  sink::Gcs bucket{place, {.client = {.log = report::say}}};
  bucket.check_writable();
  return bucket;
}

/// The sink that `--job-dir` names; where it is not given, that of `AIP_MODEL_DIR`, which a cloud
/// job sets; else none. A bucket is checked: throws `InputError` unless it can be written.
inline sink::Any open_job_dir(std::string place) {
  if (const char* of_job = std::getenv("AIP_MODEL_DIR"); place.empty() && of_job != nullptr) {
    place = of_job;
  }
  if (place.empty()) return sink::Any{sink::Discard{}};
  if (!gcs::is_gs(place)) return sink::Any{sink::Directory{place}};
  return sink::Any{open_bucket(place)};
}

/// What saves a run and continues it: checkpoints in `--checkpoint-dir`, by default a folder of the
/// run's directory. Checkpoints of a bucket reach that folder first.
class RunCheckpoints {
 public:
  /// `settings` are those of `run_settings`. Throws `InputError` where the place cannot be used.
  RunCheckpoints(const TrainFlags& flags, const train::RunDirectory& run, train::Pairs settings,
                 train::Pairs versions)
      : keeper_{local_directory(flags, run), open_remote(flags),
                options(flags, std::move(settings), std::move(versions))} {}

  [[nodiscard]] train::Checkpoints& keeper() { return keeper_; }

  /// Returns what ends the program on a signal: after the grace time the log says what is missing.
  [[nodiscard]] StopSignalsOptions stop_options(const TrainFlags& flags) const {
    return {.grace_seconds = flags.grace_seconds, .log = report::say, .unfinished = [this] {
              return keeper_.unfinished();
            }};
  }

  /// Throws `Error` where the newest checkpoint is not where it should be. To be called when the
  /// results of the run are safe.
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
    return &remote_.emplace(open_bucket(flags.checkpoint_dir));
  }

  static train::CheckpointOptions options(const TrainFlags& flags, train::Pairs settings,
                                          train::Pairs versions) {
    const bool by_name = flags.resume != "auto" && flags.resume != "never";
    return {.every = flags.checkpoint_every,
            .minutes = flags.checkpoint_minutes,
            .keep = flags.keep_checkpoints,
            .resume = by_name ? local_input(flags.resume, report::say).string() : flags.resume,
            .directory = {},
            .settings = std::move(settings),
            .settings_0_1 = {{"model", fingerprint_before_0_2(flags.model)}},
            .versions = std::move(versions),
            .log = report::say};
  }

  std::optional<sink::Any> remote_;
  train::Checkpoints keeper_;  // last: it uses the store
};

}  // namespace seqtrain::cli
