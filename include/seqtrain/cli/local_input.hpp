#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/log/log.hpp>

namespace seqtrain::cli {

/// Returns a local path for a place: a local or empty path unchanged, a gs:// address as the path
/// of a verified local copy. Throws `InputError` if the object does not exist or may not be read.
/// Retries are logged.
inline std::filesystem::path local_input(const std::string& place, const log::Log& log) {
  return gcs::localize(place, cache_directory(), log.warnings());
}

/// Returns `places`, the files of a split separated by commas, with the path of its local copy in
/// place of each gs:// address.
inline std::string local_inputs(const std::string& places, const log::Log& log) {
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
