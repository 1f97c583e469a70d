#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace seqtrain::storage {

/// A file at a place.
struct PlacedFile {
  std::string place;  ///< as a program names it
  std::string name;   ///< relative to the folder that was listed, with `/` between folders
  std::uint64_t size = 0;
  std::string modified = {};  ///< the time in ISO 8601; empty if it is not known
};

/// Called with the number of a file's bytes that are done. If it throws, the work ends with this
/// error, and nothing half written is left.
using FileProgress = std::function<void(std::uint64_t done)>;

/// The files of a storage, for programs that list, copy and remove them. A place is a file or a
/// folder, which is everything whose name has the folder's name and a `/` in front. Functions throw
/// `InputError` if a place does not exist or may not be used.
class FileTree {
 public:
  using Path = std::filesystem::path;

  virtual ~FileTree() = default;

  /// Tells whether places are paths on this machine.
  [[nodiscard]] virtual bool is_local() const { return false; }

  /// Tells whether a place names a folder, whatever is there: it ends with `/`, for example.
  [[nodiscard]] virtual bool names_folder(const std::string& place) const = 0;

  /// Returns the place of a file below a folder. Throws `InputError` if no file can have this name.
  [[nodiscard]] virtual std::string child(const std::string& folder,
                                          const std::string& name) const = 0;

  /// Returns the file at a place, or nothing if there is none.
  [[nodiscard]] virtual std::optional<PlacedFile> find(const std::string& place) const = 0;

  /// Returns all files below a folder, sorted by their names. Throws `NotFound` if there is no such
  /// folder.
  [[nodiscard]] virtual std::vector<PlacedFile> list(const std::string& folder) const = 0;

  /// Copies a file to a local path, where it appears when it is complete and verified.
  virtual void fetch(const PlacedFile& file, const Path& path,
                     const FileProgress& progress) const = 0;

  /// Writes a local file to a place, where it appears as a whole.
  virtual void put(const std::string& place, const Path& file,
                   const FileProgress& progress) const = 0;

  /// Copies a file inside this storage without its bytes passing through this machine. Returns
  /// false if the storage cannot do so.
  virtual bool copy(const PlacedFile&, const std::string&) const { return false; }

  /// Removes a file.
  virtual void remove(const std::string& place) const = 0;

  /// Removes the file and the folder at a place. Calls `before_each` before it removes a file,
  /// which may throw to end the work. Throws `NotFound` if there is nothing.
  virtual void remove_all(const std::string& place,
                          const std::function<void()>& before_each) const = 0;
};

}  // namespace seqtrain::storage
