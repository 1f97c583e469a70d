#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/sink/manifest.hpp>

namespace seqtrain::sink {

/// Returns the paths, relative to `directory`, of the named files and of all files inside the named
/// directories, sorted within each directory.
inline std::vector<std::string> files_below(const std::filesystem::path& directory,
                                            std::span<const std::string> names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (!std::filesystem::is_directory(directory / name)) {
      files.push_back(name);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    for (const auto& entry : std::filesystem::recursive_directory_iterator{directory / name}) {
      if (!entry.is_regular_file()) continue;
      files.push_back(entry.path().lexically_relative(directory).generic_string());
    }
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

/// Returns the key of a file below a prefix; an empty prefix is the sink itself.
[[nodiscard]] inline std::string key_below(const std::string& prefix, std::string_view name) {
  return prefix.empty() ? std::string{name} : prefix + "/" + std::string{name};
}

/// Puts files and directories of `directory` into the sink under `prefix`, then `manifest.json`
/// with their sizes and checksums, and waits until all of it is durable. A folder without a
/// manifest is incomplete. `before_each` is called before each file and may throw to end the
/// upload. Throws `Error`, which says that the files are still in `directory`.
template <Sink S>
void publish(
    S& sink, const std::filesystem::path& directory, std::span<const std::string> names,
    const std::string& prefix, const std::function<void()>& before_each = [] {}) {
  Manifest manifest;
  try {
    for (const std::string& name : files_below(directory, names)) {
      before_each();
      sink.put_file(key_below(prefix, name), directory / name);
      manifest.add(directory, name);
    }
    sink.flush();
    const std::string text = manifest.to_json();
    sink.put(key_below(prefix, Manifest::file_name), std::as_bytes(std::span{text}));
    sink.flush();
  } catch (const Error& error) {
    throw Error{error.what(), {}, "all of it is still in " + directory.string()};
  }
}

}  // namespace seqtrain::sink
