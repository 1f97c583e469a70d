#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <seqtrain/cli/bucket_checkpoints.hpp>
#include <seqtrain/cli/stop_signals.hpp>
#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/report/say.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/gcs.hpp>
#include <seqtrain/train/checkpoint.hpp>
#include <seqtrain/train/checkpoints.hpp>
#include <seqtrain/train/run_directory.hpp>

/// Where a program's inputs come from and its results go: directories, or gs:// addresses. Costs a
/// file the compilation of the storage client.
namespace seqtrain::cli {

/// Where what is fetched from buckets is kept: `seqtrain` in the user's cache directory.
inline std::filesystem::path cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) {
    if (*cache != '\0') return std::filesystem::path{cache} / "seqtrain";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path{home == nullptr ? "." : home} / ".cache/seqtrain";
}

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

/// What saves a run: to `--checkpoint-dir`, by default a folder of the run's directory. Of a
/// bucket's checkpoints there are copies in that folder. Only a run of the same settings, which
/// `run_settings` makes, can be resumed from them.
inline std::unique_ptr<train::Checkpoints> open_checkpoints(const TrainFlags& flags,
                                                            const train::RunDirectory& run,
                                                            train::RunIdentity identity) {
  const bool in_bucket = gcs::is_gs(flags.checkpoint_dir);
  const bool beside = flags.checkpoint_dir.empty() || in_bucket;
  const bool by_name = flags.resume != "auto" && flags.resume != "never";
  train::CheckpointOptions options{
      .directory = beside ? run.checkpoints() : std::filesystem::path{flags.checkpoint_dir},
      .every = flags.checkpoint_every,
      .minutes = flags.checkpoint_minutes,
      .keep = flags.keep_checkpoints,
      .resume = flags.resume == "auto",
      .from = by_name ? local_input(flags.resume, report::say) : std::filesystem::path{},
      .run = std::move(identity),
      .log = report::say};
  if (!in_bucket) return std::make_unique<train::Checkpoints>(std::move(options));
  return std::make_unique<train::Checkpoints>(
      std::move(options), std::make_unique<BucketCheckpoints>(open_bucket(flags.checkpoint_dir)));
}

/// A signal gets that much time; what `checkpoints` could not do in it is said.
inline StopSignalsOptions stop_options(const TrainFlags& flags,
                                       const train::Checkpoints& checkpoints) {
  return {.grace_seconds = flags.grace_seconds, .log = report::say, .unfinished = [&checkpoints] {
            return checkpoints.unfinished();
          }};
}

}  // namespace seqtrain::cli
