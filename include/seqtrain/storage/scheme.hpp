#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <seqtrain/log/log.hpp>
#include <seqtrain/sink/any.hpp>
#include <seqtrain/storage/file_tree.hpp>

namespace seqtrain::storage {

/// The names of files below a folder, with `/` between folders.
using Names = std::set<std::string, std::less<>>;

/// A kind of storage that is no local path, such as a cloud's buckets. A function that is missing
/// is something that this storage cannot do: results need `open`; inputs need `list` and `fetch`;
/// models need either these two or `fetch_model`; copies need `files`. The functions throw
/// `InputError` if a place does not exist or may not be used.
struct Scheme {
  /// The form of a place, for messages: `gs://bucket/path`.
  std::string form;
  /// Tells whether a place is in this storage.
  std::function<bool(const std::string& place)> has;
  /// Opens a store for results and checkpoints.
  std::function<sink::Any(const std::string& place, const log::Log& log)> open = {};
  /// Returns the names of all files below a folder.
  std::function<Names(const std::string& folder, const log::Log& log)> list = {};
  /// Returns the path of a verified local copy of a file or of a folder.
  std::function<std::filesystem::path(const std::string& place, const log::Log& log)> fetch = {};
  /// Returns a local folder with a model's files.
  std::function<std::filesystem::path(const std::string& place, const log::Log& log)> fetch_model =
      {};
  /// Opens the files for programs that list and copy, and if the storage has `open`, that write and
  /// remove.
  std::function<std::shared_ptr<const FileTree>(const log::Log& log)> files = {};
};

/// Returns a function that tells whether a place begins with this text, such as `gs://`.
[[nodiscard]] inline std::function<bool(const std::string&)> begins_with(std::string text) {
  return [text = std::move(text)](const std::string& place) { return place.starts_with(text); };
}

}  // namespace seqtrain::storage
