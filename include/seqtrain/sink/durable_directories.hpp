#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <seqtrain/core/error.hpp>

namespace seqtrain::sink {

/// Creates and removes the directories below a root, so that their names survive a loss of power.
/// `F` are the files, as in `BasicDirectory`. Copies share what they know.
template <class F>
class DurableDirectories {
 public:
  using Path = std::filesystem::path;

  DurableDirectories(Path root, F files) : files_{std::move(files)}, root_{std::move(root)} {}

  /// Makes sure that the directory is there and that its name survives a loss of power. A process
  /// that created it may have been killed before it forced the name to the disk.
  void prepare(const Path& directory) {
    if (is_durable(directory)) return;
    if (directory != root_) prepare(directory.parent_path());
    const bool made = make(directory);
    if (directory == root_) {
      sync_above_root();
    } else if (!made) {
      files_.sync_directory(directory.parent_path());
    }
    const std::lock_guard lock{known_->mutex};
    known_->directories.insert(directory.native());
  }

  /// Creates a directory and its missing parents. Returns whether it was missing.
  bool make(const Path& directory) const {
    bool made = false;
    try {
      made = files_.make_directory(directory);
    } catch (const Error&) {
      if (parent_of(directory) == directory) throw;
      make(parent_of(directory));
      made = files_.make_directory(directory);
    }
    if (made) files_.sync_directory(parent_of(directory));
    return made;
  }

  /// Removes an empty directory. Returns false if another process has put something into it or
  /// removed it.
  bool remove(const Path& directory) {
    {
      const std::lock_guard lock{known_->mutex};
      known_->directories.erase(directory.native());
    }
    try {
      return files_.remove(directory);
    } catch (const Error&) {
      if (files_.list(directory).empty()) throw;
      return false;
    }
  }

 private:
  /// Directories whose names are known to be on the disk.
  struct Known {
    std::mutex mutex;
    std::set<std::string> directories;
  };

  static Path parent_of(const Path& path) {
    return path.has_parent_path() ? path.parent_path() : Path{"."};
  }

  [[nodiscard]] bool is_durable(const Path& directory) const {
    const std::lock_guard lock{known_->mutex};
    return known_->directories.contains(directory.native());
  }

  /// Forces the names of the directories above the root to the disk as well: a killed process may
  /// have created any of them. They need not be readable.
  void sync_above_root() const {
    Path above = root_;
    do {
      above = parent_of(above);
      try {
        files_.sync_directory(above);
      } catch (const Error&) {
      }
    } while (above != "." && above != parent_of(above));
  }

  [[no_unique_address]] F files_;
  Path root_;
  std::shared_ptr<Known> known_ = std::make_shared<Known>();
};

}  // namespace seqtrain::sink
