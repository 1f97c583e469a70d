#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/mapped_file.hpp>
#include <seqtrain/hub/digest.hpp>

namespace seqtrain::hub {

/// The content of a local file, which is mapped and not read into memory. The file may be empty.
class PushContent {
 public:
  /// Throws `InputError` if the file cannot be read or its size is not `size` any more.
  PushContent(const std::filesystem::path& file, std::uint64_t size) {
    if (size > 0 || std::filesystem::file_size(file) > 0) map_.emplace(file);
    if (bytes().size() == size) return;
    throw InputError{"changed its size during the push", {.object = file.string()}};
  }

  [[nodiscard]] std::string_view text() const { return map_ ? map_->text() : std::string_view{}; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span{text()});
  }

  /// Frees the memory of a part of `text()`, which stays readable.
  void forget(std::string_view part) const {
    if (map_) map_->forget(part);
  }

 private:
  std::optional<MappedFile> map_;
};

/// A local file that becomes part of a commit.
struct PushFile {
  std::string path;  ///< path in the repository, with `/` between folders
  std::filesystem::path file = {};
  std::uint64_t size = 0;
  /// The content goes to the hub's storage, and the commit has only its hash.
  bool is_large = false;
  std::string hash = {};  ///< hash of the content, see `HashKind`

  /// Throws the `InputError` of `PushContent`.
  [[nodiscard]] PushContent content() const { return {file, size}; }

  /// Computes the hash by which the hub names the content. `is_large` decides the kind of the hash.
  [[nodiscard]] std::string compute_hash() const {
    constexpr std::size_t piece = std::size_t{1} << 20;
    ContentHash digest{is_large ? HashKind::sha256 : HashKind::git, size};
    const auto whole = content();
    for (std::size_t begin = 0; begin < size; begin += piece) {
      const auto part = whole.text().substr(begin, piece);
      digest.update(std::as_bytes(std::span{part}));
      whole.forget(part);
    }
    return digest.text();
  }
};

/// Returns the files below a folder, sorted by path. Throws `InputError` if there are none, or more
/// than 256, which is the hub's limit for one request.
[[nodiscard]] inline std::vector<PushFile> files_to_push(const std::filesystem::path& folder) {
  std::vector<PushFile> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry{folder, error}, end;
       !error && entry != end; entry.increment(error)) {
    if (!entry->is_regular_file()) continue;
    files.push_back({.path = entry->path().lexically_relative(folder).generic_string(),
                     .file = entry->path(),
                     .size = entry->file_size()});
  }
  if (error) throw InputError{error.message(), {.object = folder.string()}};
  if (files.empty()) throw InputError{"has no files to push", {.object = folder.string()}};
  if (files.size() > 256) {
    throw InputError{"has more than 256 files, so it is not the folder of a model",
                     {.object = folder.string()}};
  }
  std::ranges::sort(files, {}, &PushFile::path);
  return files;
}

}  // namespace seqtrain::hub
