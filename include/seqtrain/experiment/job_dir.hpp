#pragma once

#include <string>

#include <seqtrain/cli/cloud_job.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/sink/discard.hpp>
#include <seqtrain/storage/open.hpp>

namespace seqtrain::experiment {

/// Opens the sink that `--job-dir` names. If the flag is not given, opens the place in
/// `AIP_MODEL_DIR`, which a cloud job sets, or else a sink that keeps nothing. Throws `InputError`
/// if the place cannot be written.
inline sink::Any open_job_dir(std::string place, const storage::Options& options) {
  if (place.empty()) place = cli::CloudJob::from_environment().model_dir;
  if (place.empty()) return sink::Any{sink::Discard{}};
  return storage::open_writable(place, options);
}

}  // namespace seqtrain::experiment
