#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/mapped_file.hpp>
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

/// The record of a job's publication: `published.json` in the job's directory. It is written before
/// the first file is published, so that a restarted job finds its folder.
struct Published {
  static constexpr std::string_view file_name = "published.json";

  std::string place = {};   ///< name of the sink
  std::string folder = {};  ///< prefix of the results there
  std::vector<Manifest::Entry> files = {};

  /// Returns what the directory's record says, or an empty record if there is none.
  static Published load(const std::filesystem::path& directory) {
    const auto file = directory / file_name;
    if (!std::filesystem::exists(file)) return {};
    const MappedFile text{file};
    const auto document = json::Document::parse(text.text(), file.string());
    return {.place = std::string{document.root().at("place").string()},
            .folder = std::string{document.root().at("folder").string()},
            .files = Manifest::parse(text.text(), file.string()).entries()};
  }

  void save(const std::filesystem::path& directory) const {
    json::Writer out{2};
    out.begin_object().member("place", std::string_view{place});
    out.member("folder", std::string_view{folder});
    Manifest::append(out, files);
    write_file_atomically(directory / file_name, out.end_object().text() + "\n");
  }

  /// Tells whether another record has the same results at the same place. JSON files may differ,
  /// because their times differ when a job is restarted.
  [[nodiscard]] bool same_results(const Published& other) const {
    return place == other.place &&
           std::ranges::equal(files, other.files, [](const auto& a, const auto& b) {
             return a.name == b.name &&
                    (a.name.ends_with(".json") || (a.size == b.size && a.crc32c == b.crc32c));
           });
  }
};

/// Publishes a job's results as `publish` does, and returns their folder: `fresh`, or the folder
/// that an earlier start of the job chose for the same results. Does nothing if they are published
/// already. So a job that is stopped at any moment and restarted leaves one folder.
template <Store S>
std::string publish_once(
    S& sink, const std::filesystem::path& directory, std::span<const std::string> names,
    const std::string& fresh, const std::function<void()>& before_each = [] {}) {
  Published now{.place = sink.name(), .folder = fresh};
  Manifest manifest;
  for (const auto& name : files_below(directory, names)) manifest.add(directory, name);
  now.files = manifest.entries();
  if (const auto before = Published::load(directory); before.same_results(now)) {
    now.folder = before.folder;
    if (sink.get(key_below(now.folder, Manifest::file_name))) return now.folder;
  }
  now.save(directory);
  publish(sink, directory, names, now.folder, before_each);
  return now.folder;
}

}  // namespace seqtrain::sink
