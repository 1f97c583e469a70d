#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <sys/stat.h>

#include <seqtrain/buckets/byte_source.hpp>
#include <seqtrain/buckets/cache.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/system_error.hpp>
#include <seqtrain/core/timestamp.hpp>
#include <seqtrain/http/message.hpp>
#include <seqtrain/storage/file_tree.hpp>

namespace seqtrain::storage {

/// Copies a local file, whose copy appears as a whole.
inline void copy_local(const std::filesystem::path& from, const std::filesystem::path& to,
                       const FileProgress& progress) {
  buckets::FileSource source{from};
  AtomicFile file{to};
  std::uint64_t done = 0;
  buckets::read_pieces(source, 0, *source.size(), [&](std::span<const std::byte> bytes) {
    file.write(bytes);
    if (progress) progress(done += bytes.size());
  });
  file.commit();
}

/// Creates the folder of a file if it is missing.
inline void create_folder_of(const std::filesystem::path& file) {
  const auto folder = file.parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (!error) return;
  throw InputError{"cannot be created: " + error.message(), {.object = folder.string()}};
}

/// The files on this machine. Links to files and folders count as what they point to, but `remove`
/// and `remove_all` remove the link alone.
class LocalTree final : public FileTree {
 public:
  [[nodiscard]] bool is_local() const override { return true; }

  [[nodiscard]] bool names_folder(const std::string& place) const override {
    std::error_code ignored;
    return place.ends_with('/') || std::filesystem::is_directory(place, ignored);
  }

  [[nodiscard]] std::string child(const std::string& folder,
                                  const std::string& name) const override {
    const auto path = Path{folder} / name;
    return (Path{folder} / buckets::local_path(name, {.object = path.string()})).string();
  }

  [[nodiscard]] std::optional<PlacedFile> find(const std::string& place) const override {
    std::error_code error;
    const auto status = std::filesystem::status(place, error);
    if (std::filesystem::is_directory(status) || !std::filesystem::exists(status)) {
      const bool absent = error.value() == ENOENT || error.value() == ENOTDIR;
      if (error && !absent) throw unreadable(place, error);
      return {};
    }
    return describe(place, Path{place}.filename().string());
  }

  [[nodiscard]] std::vector<PlacedFile> list(const std::string& folder) const override {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
      throw http::NotFound{"no such file or directory", {.object = folder}};
    }
    std::vector<PlacedFile> files;
    using Entries = std::filesystem::recursive_directory_iterator;
    constexpr auto follow = std::filesystem::directory_options::follow_directory_symlink;
    for (Entries entry{folder, follow, error}; !error && entry != Entries{};
         entry.increment(error)) {
      const auto& path = entry->path();
      if (entry->is_directory(error)) continue;
      if (error) throw unreadable(path.string(), error);
      files.push_back(describe(path.string(), path.lexically_relative(folder).generic_string()));
    }
    if (error) throw unreadable(folder, error);
    std::ranges::sort(files, {}, &PlacedFile::name);
    return files;
  }

  void fetch(const PlacedFile& file, const Path& path,
             const FileProgress& progress) const override {
    copy_local(file.place, path, progress);
  }

  void put(const std::string& place, const Path& file,
           const FileProgress& progress) const override {
    create_folder_of(place);
    copy_local(file, place, progress);
  }

  void remove(const std::string& place) const override {
    std::error_code error;
    std::filesystem::remove(place, error);
    if (error) throw InputError{"cannot be removed: " + error.message(), {.object = place}};
  }

  void remove_all(const std::string& place,
                  const std::function<void()>& before_each) const override {
    refuse_current(place);
    before_each();
    std::error_code error;
    const Path path = place.ends_with('/') ? Path{place}.parent_path() : Path{place};
    const auto removed = std::filesystem::remove_all(path, error);
    if (error) throw InputError{"cannot be removed: " + error.message(), {.object = place}};
    if (removed == 0) throw http::NotFound{"no such file or directory", {.object = place}};
  }

 private:
  static InputError unreadable(const std::string& place, std::error_code error) {
    return InputError{"cannot be read: " + error.message(), {.object = place}};
  }

  static PlacedFile describe(std::string place, std::string name) {
    struct ::stat status = {};
    if (::stat(place.c_str(), &status) != 0)
      throw system_error<InputError>("cannot be read", place);
    if (!S_ISREG(status.st_mode)) throw InputError{"not a regular file", {.object = place}};
    const auto modified = std::chrono::system_clock::from_time_t(status.st_mtime);
    return {.place = std::move(place),
            .name = std::move(name),
            .size = static_cast<std::uint64_t>(status.st_size),
            .modified = iso8601(modified)};
  }

  /// Throws `InputError` for a folder that this program is in, such as the root.
  static void refuse_current(const std::string& place) {
    std::error_code error;
    const auto path = std::filesystem::canonical(place, error);
    if (error) return;
    const auto here = std::filesystem::current_path(error);
    if (!(here / "").string().starts_with((path / "").string())) return;
    throw InputError{"holds the current directory", {.object = place}, "name the folders in it"};
  }
};

}  // namespace seqtrain::storage
