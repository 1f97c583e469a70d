#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <seqtrain/core/error.hpp>
#include <seqtrain/hub/name.hpp>

namespace seqtrain::storage {

/// Tells whether `place` is an address, such as `gs://bucket/path`, and so not a local path.
[[nodiscard]] inline bool is_address(std::string_view place) {
  const auto scheme = place.substr(0, place.find("://"));
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
  };
  return scheme.size() < place.size() && !scheme.empty() &&
         std::isalpha(static_cast<unsigned char>(scheme.front())) != 0 &&
         std::ranges::all_of(scheme, fits);
}

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

/// Throws `InputError` with this remedy if the value of a flag is an address.
inline void demand_local(const std::string& place, const std::string& flag,
                         const std::string& remedy) {
  if (!is_address(place)) return;
  throw InputError{"must be a local directory", {.object = flag}, remedy};
}

/// Tells whether `place` names a model on the hub: it has the form of such a name and does not mean
/// a local path.
inline bool is_on_hub(const std::string& place) {
  return hub::Name::fits(place) && !is_meant_here(place);
}

/// Returns the name of a model on the hub without its revision, or nothing if `place` is elsewhere.
inline std::string name_on_hub(const std::string& place) {
  return is_on_hub(place) ? hub::Name::parse(place).id : "";
}

}  // namespace seqtrain::storage
