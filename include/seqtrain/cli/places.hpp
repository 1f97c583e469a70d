#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <seqtrain/cli/train_flags.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/report/say.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/sink/gcs.hpp>
#include <seqtrain/sink/local.hpp>

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

/// The flags with local copies in the place of what they name in buckets. Throws `InputError` for
/// what is not there or may not be read.
inline TrainFlags with_local_inputs(TrainFlags flags) {
  for (std::string* place : {&flags.model, &flags.train_file, &flags.dev_file, &flags.test_file}) {
    *place = gcs::localize(*place, cache_directory(), report::say).string();
  }
  return flags;
}

/// The sink that `--job-dir` names; where it is not given, that of `AIP_MODEL_DIR`, which a cloud
/// job sets; else none. A bucket is checked: throws `InputError` unless it can be written.
inline sink::Any open_job_dir(std::string place) {
  if (const char* of_job = std::getenv("AIP_MODEL_DIR"); place.empty() && of_job != nullptr) {
    place = of_job;
  }
  if (place.empty()) return sink::Any{sink::Discard{}};
  if (!gcs::is_gs(place)) return sink::Any{sink::Local{place}};
  sink::Gcs bucket{place, {.client = {.log = report::say}}};
  bucket.check_writable();
  return sink::Any{std::move(bucket)};
}

}  // namespace seqtrain::cli
