#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <stdlib.h>

#include <seqtrain/buckets/byte_source.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/system_error.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/storage/file_tree.hpp>
#include <seqtrain/storage/local_tree.hpp>
#include <seqtrain/storage/open.hpp>

namespace seqtrain::storage {

/// Finds the tree of files in which a place is. Each storage is opened once.
class Trees {
 public:
  explicit Trees(Options options) : options_{std::move(options)} {}
  Trees(const Trees&) = delete;
  Trees& operator=(const Trees&) = delete;

  /// Returns the tree of a place to copy from, or of one whose files are written or removed. Throws
  /// `InputError` if no storage that is known can do this.
  [[nodiscard]] const FileTree& of(const std::string& place, Use use) {
    const bool bare = place.find('/') == place.npos;  // a file here, not a model on the hub
    const Scheme* const scheme = bare ? nullptr : find_scheme(place, options_, use);
    auto& tree = trees_[scheme];
    if (!tree) tree = scheme ? scheme->files(options_.log) : std::make_shared<LocalTree>();
    return *tree;
  }

 private:
  Options options_;
  std::map<const Scheme*, std::shared_ptr<const FileTree>> trees_;
};

/// Called with the numbers of bytes done and in all. If it throws, the work ends with this error.
using CopyProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Options of `copy`.
struct CopyOptions {
  bool recursive = false;  ///< copies folders too
  CopyProgress progress = {};
};

namespace detail {

/// A directory for temporary files, which is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "seqtrain-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw system_error("cannot be created", name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Throws `InputError` if one of these files would be a folder of another one.
inline void demand_tree(const std::vector<PlacedFile>& files) {
  std::set<std::string_view> names;
  for (const auto& file : files) names.insert(file.name);
  for (const std::string_view name : names) {
    for (auto slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1)) {
      if (!names.contains(name.substr(0, slash))) continue;
      throw InputError{"is an object and a directory at once",
                       {.object = std::string{name.substr(0, slash)}}};
    }
  }
}

}  // namespace detail

/// Calls `use(path)` with the local path of a file. A file of another storage is fetched into a
/// temporary folder and verified before.
template <class UseFile>
void with_local_file(const FileTree& tree, const PlacedFile& file, const FileProgress& progress,
                     const UseFile& use) {
  if (tree.is_local()) return use(std::filesystem::path{file.place});
  const detail::TemporaryFolder folder;
  const auto path = folder.path() / "file";
  tree.fetch(file, path, progress);
  use(path);
}

/// Returns the file at a place. Throws `InputError` if the place is a folder, and `NotFound` if
/// there is nothing.
[[nodiscard]] inline PlacedFile find_file(const FileTree& tree, const std::string& place,
                                          const std::string& remedy) {
  if (auto file = tree.find(place)) return *std::move(file);
  static_cast<void>(tree.list(place));
  throw InputError{"is a folder", {.object = place}, remedy};
}

/// Returns the file at a place, or else all files below it. Throws `NotFound` if there are neither.
[[nodiscard]] inline std::vector<PlacedFile> list_files(const std::string& place, Trees& trees) {
  const FileTree& tree = trees.of(place, Use::source);
  if (auto file = tree.find(place)) return {*std::move(file)};
  return tree.list(place);
}

/// Returns a function that reports the bytes of one file to `progress` among `total`, of which
/// `before` were done.
inline FileProgress progress_of(const CopyProgress& progress, std::uint64_t before,
                                std::uint64_t total) {
  return [=](std::uint64_t done) {
    if (progress) progress(before + done, total);
  };
}

/// Writes the content of a file to a stream.
inline void print(const std::string& place, Trees& trees, std::ostream& out,
                  const CopyProgress& progress = {}) {
  const FileTree& tree = trees.of(place, Use::source);
  const auto file = find_file(tree, place, "name a file in it");
  with_local_file(tree, file, progress_of(progress, 0, file.size), [&](const auto& path) {
    buckets::FileSource content{path};
    buckets::read_pieces(content, 0, *content.size(), [&](std::span<const std::byte> bytes) {
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
    });
  });
}

namespace detail {

/// Throws `InputError` if something else than a regular file is at a local path.
inline void demand_replaceable(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  throw InputError{"is not a regular file", {.object = path.string()}, "name another place"};
}

/// Tells whether there is a folder at a place.
inline bool has_folder(const FileTree& tree, const std::string& place) {
  try {
    static_cast<void>(tree.list(place));
    return true;
  } catch (const http::NotFound&) {
    return false;
  }
}

using Steps = std::vector<std::pair<PlacedFile, std::string>>;

/// Returns the files to copy, each with its new place.
inline Steps plan(const std::string& from, const FileTree& source, const std::string& to,
                  const FileTree& target, bool recursive) {
  Steps steps;
  if (auto file = source.find(from)) {
    if (recursive && has_folder(source, from)) {
      throw InputError{"is a file and a folder at once",
                       {.object = from},
                       "a slash at its end means the folder"};
    }
    auto place = target.names_folder(to) ? target.child(to, file->name) : to;
    steps.emplace_back(*std::move(file), std::move(place));
  } else {
    const auto files = source.list(from);
    if (!recursive) {
      throw InputError{"is a folder", {.object = from}, "-r copies all files below it"};
    }
    if (files.empty()) throw InputError{"has no files to copy", {.object = from}};
    if (target.is_local()) demand_tree(files);
    for (const auto& one : files) steps.emplace_back(one, target.child(to, one.name));
  }
  for (const auto& [file, place] : steps) {
    if (target.is_local()) demand_replaceable(place);
  }
  return steps;
}

/// Copies one file. `first` gets the progress of the bytes that come to this machine, `last` of
/// those that leave it.
inline void copy_file(const FileTree& source, const PlacedFile& file, const FileTree& target,
                      const std::string& place, const FileProgress& first,
                      const FileProgress& last) {
  if (&source == &target && source.copy(file, place)) return;
  if (target.is_local() && !source.is_local()) {
    create_folder_of(place);
    return source.fetch(file, place, first);
  }
  with_local_file(source, file, first,
                  [&](const std::filesystem::path& path) { target.put(place, path, last); });
}

}  // namespace detail

/// Copies a file, or with `recursive` all files below a folder, between any two storages. A copy of
/// a file into a folder keeps the file's name. Each file appears as a whole; a copy that fails
/// leaves the files that were complete. Throws `InputError` before anything is written if there is
/// nothing to copy or a name cannot be used.
inline void copy(const std::string& from, const std::string& to, Trees& trees,
                 const CopyOptions& options = {}) {
  const FileTree& source = trees.of(from, Use::source);
  const FileTree& target = trees.of(to, Use::target);
  const auto steps = detail::plan(from, source, to, target, options.recursive);
  // Bytes that go from one storage through this machine to another one are counted twice.
  const std::uint64_t ways = source.is_local() || target.is_local() ? 1 : 2;
  std::uint64_t total = 0, done = 0;
  for (const auto& [file, place] : steps) total += file.size * ways;
  for (const auto& [file, place] : steps) {
    const auto first = progress_of(options.progress, done, total);
    const auto last = progress_of(options.progress, done + (ways - 1) * file.size, total);
    try {
      first(0);
      detail::copy_file(source, file, target, place, first, last);
    } catch (const InputError& error) {
      if (&file == &steps.front().first) throw;
      throw Error{error.what()};  // files were written before
    }
    done += file.size * ways;
  }
}

/// Removes a file, or with `recursive` also all files below a folder. Calls `before_each` before it
/// removes a file, which may throw to end the work.
inline void remove(
    const std::string& place, Trees& trees, bool recursive,
    const std::function<void()>& before_each = [] {}) {
  const FileTree& tree = trees.of(place, Use::target);
  if (recursive) return tree.remove_all(place, before_each);
  tree.remove(find_file(tree, place, "-r removes all files below it").place);
}

}  // namespace seqtrain::storage
