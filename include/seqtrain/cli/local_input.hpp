#pragma once

#include <algorithm>
#include <cstddef>
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

/// Returns the names of local copies of a split's files, with commas between them as in `places`.
/// Names without `gs://` stay as they are.
inline std::string local_inputs(const std::string& places, const report::Log& log) {
  if (places.find("gs://") == std::string::npos) return places;
  std::string result;
  for (std::size_t begin = 0; begin <= places.size();) {
    const std::size_t end = std::min(places.find(",gs://", begin), places.size());
    if (begin > 0) result += ',';
    result += local_input(places.substr(begin, end - begin), log).string();
    begin = end + 1;
  }
  return result;
}

}  // namespace seqtrain::cli
