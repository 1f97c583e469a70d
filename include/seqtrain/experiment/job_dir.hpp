#pragma once

#include <string>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/gcs/sink.hpp>
#include <seqtrain/gcs/uri.hpp>
#include <seqtrain/log/log.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/directory.hpp>
#include <seqtrain/sink/discard.hpp>

namespace seqtrain::experiment {

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
  if (place.empty()) place = cli::CloudJob::from_environment().model_dir;
  if (place.empty()) return sink::Any{sink::Discard{}};
  if (!gcs::is_gs(place)) return sink::Any{sink::Directory{place}};
  return sink::Any{open_bucket(place, log)};
}

}  // namespace seqtrain::experiment
