#pragma once

#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/split.hpp>
#include <seqtrain/gcs/client.hpp>

namespace seqtrain::gcs {

/// Returns an object's name, or the end of one, as a path that stays below its directory. Throws
/// `InputError` for a name that no file can have.
inline std::filesystem::path local_path(std::string_view name, const Uri& object) {
  const auto refuse = [&](const char* problem) {
    throw InputError{problem, {.object = object.text()}, "no local file can be named like that"};
  };
  if (name.find('\0') != std::string_view::npos) refuse("a zero byte in the name");
  for (const auto part : split(name, '/')) {
    if (part.empty()) refuse("an empty part in the name");
    if (part == "." || part == "..") refuse("a part of the name leads elsewhere");
    if (part.size() > 255) refuse("a part of the name is longer than 255 bytes");
  }
  return std::filesystem::path{name};
}

/// An object with the relative path of its local file.
struct LocalObject {
  ObjectInfo object;
  std::filesystem::path path;  ///< relative to the directory of the files
};

/// Returns all objects below `directory` with their paths relative to it. Leaves out empty objects
/// whose name ends in a slash, which some tools create for directories. Throws `NotFound` if there
/// is no object, `InputError` if a name cannot be a file or is a file and a directory at once.
inline std::vector<LocalObject> list_directory(const Client& client, const Uri& directory) {
  const auto prefix = directory.as_directory();
  std::vector<LocalObject> found;
  std::set<std::filesystem::path> directories;
  client.list(prefix, [&](const ObjectInfo& object) {
    const auto rest = std::string_view{object.uri.name}.substr(prefix.name.size());
    if (object.size == 0 && (rest.empty() || rest.ends_with('/'))) return;
    found.push_back({object, local_path(rest, object.uri)});
    for (auto above = found.back().path.parent_path(); !above.empty();
         above = above.parent_path()) {
      directories.insert(above);
    }
  });
  for (const auto& one : found) {
    if (!directories.contains(one.path)) continue;
    throw InputError{"is an object and a directory at once", {.object = one.object.uri.text()}};
  }
  if (found.empty())
    throw NotFound{"no such object, and none below it", {.object = directory.text()}};
  return found;
}

}  // namespace seqtrain::gcs
