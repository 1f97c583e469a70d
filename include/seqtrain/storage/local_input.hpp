#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <seqtrain/core/environment.hpp>
#include <seqtrain/gcs/open.hpp>
#include <seqtrain/gcs/uri.hpp>
#include <seqtrain/hub/open.hpp>
#include <seqtrain/log/log.hpp>

namespace seqtrain::storage {

/// Tells whether `place` means a local path: it exists, it begins like a path, or its first folder
/// exists. So a misspelled path is not looked for on the hub.
inline bool is_meant_here(const std::string& place) {
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(place, ignored))) return true;
  for (const std::string_view begin : {"./", "../", "/", "~", "checkpoints/", "runs/"}) {
    if (place.starts_with(begin)) return true;
  }
  const auto slash = place.find('/');
  return slash != place.npos && std::filesystem::is_directory(place.substr(0, slash), ignored);
}

/// Throws `InputError` unless `place`, which means a local path, is a directory.
inline void demand_directory(const std::string& place, std::string_view kind) {
  std::error_code ignored;
  if (std::filesystem::is_directory(place, ignored)) return;
  throw InputError{
      "there is no such directory",
      {.object = place},
      "name an existing directory, or a " + std::string{kind} + " on the hub, org/name"};
}

/// Tells whether `place` names a model on the hub: it has the form of such a name and does not mean
/// a local path.
inline bool is_on_hub(const std::string& place) {
  return hub::Name::fits(place) && !is_meant_here(place);
}

/// Tells whether a model is on the hub or in a bucket.
inline bool is_elsewhere(const std::string& place) {
  return is_on_hub(place) || gcs::is_gs(place);
}

/// Returns the name of a model on the hub without its revision, or nothing if `place` is elsewhere.
inline std::string name_on_hub(const std::string& place) {
  return is_on_hub(place) ? hub::Name::parse(place).id : "";
}

/// Returns `fetch(client, cache, options)`, which takes files from the hub. Progress is logged. If
/// the hub does not have the files or cannot be reached, the error also says that there is no local
/// directory of this name.
template <class Fetch>
auto from_hub(const log::Log& log, const Fetch& fetch) {
  const auto client = hub::open_client(log.warnings());
  const hub::Cache cache{client.settings().cache};
  const std::string no_directory =
      "; there is no local directory of this name either: --model takes one";
  const hub::FetchOptions options{.tell = [&](std::string_view line) { log.info(line); },
                                  .warn = log.warnings()};
  try {
    return fetch(client, cache, options);
  } catch (const hub::NotFound& error) {
    throw InputError{error.what() + no_directory};
  } catch (const hub::Unavailable& error) {
    throw Error{error.what() + no_directory};
  }
}

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

}  // namespace seqtrain::storage
