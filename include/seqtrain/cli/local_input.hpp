#pragma once

#include <filesystem>
#include <string>

#include <seqtrain/core/cache_directory.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/report/log.hpp>

namespace seqtrain::cli {

/// Returns a local path, or an empty one, as it is, or the path of a verified local copy of what a
/// gs:// address names. Throws `InputError` if that does not exist or may not be read. Retries are
/// logged.
inline std::filesystem::path local_input(const std::string& place, const report::Log& log) {
  return gcs::localize(place, cache_directory(), log.warnings());
}

}  // namespace seqtrain::cli
