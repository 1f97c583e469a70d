#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/files.hpp>
#include <seqtrain/sink/durable_directories.hpp>
#include <seqtrain/sink/key.hpp>

namespace seqtrain::sink {

/// A store in a directory on a mounted disk. Keys are paths below the root; missing directories are
/// created, and empty ones are removed. `put` and `remove` return when their effect is durable.
/// `list` leaves out locks and temporary files, whose names begin with a dot or end in `.partial`;
/// `leftovers` lists what killed processes have left.
template <class F = Files>
class BasicDirectory {
 public:
  using Path = std::filesystem::path;
  using Lock = typename F::Lock;

  /// Throws `InputError` if real files cannot be written there. Creates nothing.
  explicit BasicDirectory(Path root, F files = {})
      : files_{std::move(files)},
        root_{without_slash(std::move(root))},
        directories_{root_, files_} {
    if constexpr (std::same_as<F, Files>) check_writable(root_);
  }

  [[nodiscard]] std::string name() const { return root_.string(); }
  [[nodiscard]] const Path& root() const noexcept { return root_; }
  /// Returns the path of an object.
  [[nodiscard]] Path path_of(std::string_view key) const { return root_ / key; }
  [[nodiscard]] const F& files() const noexcept { return files_; }

  void put(std::string_view key, std::span<const std::byte> bytes) {
    put_pieces(key, std::span{&bytes, 1});
  }

  /// Puts the pieces, joined in order, as one object.
  void put_pieces(std::string_view key, std::span<const std::span<const std::byte>> pieces) {
    check_key(key);
    std::optional<BasicAtomicFile<F>> file;
    create(file, path_of(key));
    for (const auto& piece : pieces) file->write(piece);
    file->commit();
  }

  void put_file(std::string_view key, const Path& file) {
    const auto content = files_.read(file);
    if (!content) throw Error{"cannot be read: no such file", {.object = file.string()}};
    put(key, content->bytes);
  }

  void flush() {}

  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    return collect_if(key, is_object);
  }

  /// Returns the keys of temporary files and of empty directories inside that directory, sorted. If
  /// nobody is writing one, a killed process left it; `remove` removes it.
  [[nodiscard]] std::vector<std::string> leftovers(std::string_view key) const {
    return collect_if(
        key, [](std::string_view name) { return name.ends_with(".partial"); }, true);
  }

  /// Creates the directories of a key and returns its path, for a caller that writes the file
  /// itself.
  [[nodiscard]] Path writable_path(std::string_view key) {
    check_key(key);
    directories_.prepare(path_of(key).parent_path());
    return path_of(key);
  }

  /// Forces the names of a directory's objects to the disk. A killed process may have left objects
  /// that others see and that a loss of power would still undo.
  void make_durable(std::string_view key) {
    check_key(key);
    directories_.prepare(path_of(key));
    files_.sync_directory(path_of(key));
  }

  /// Returns the lock of a file below the root, or nothing if somebody else holds it.
  [[nodiscard]] std::optional<Lock> try_lock(std::string_view key) {
    return files_.try_lock(writable_path(key));
  }

  [[nodiscard]] std::optional<Stored> get(std::string_view key) const {
    check_key(key);
    const auto version = version_at(path_of(key));
    if (!version) return {};
    return Stored{std::string{version->content.text()}, version->generation};
  }

  /// Returns the object's bytes as a view of the page cache, or nothing if there is no object.
  [[nodiscard]] std::optional<SharedBytes> map(std::string_view key) const {
    check_key(key);
    return files_.read(path_of(key));
  }

  bool get_file(std::string_view key, const Path& file) const {
    const auto content = map(key);
    if (!content) return false;
    BasicAtomicFile<F> copy{file, files_};
    copy.write(content->bytes);
    copy.commit();
    return true;
  }

  /// Writes the object only if it has that generation; 0 means that there is no object yet. Returns
  /// the new generation, or nothing if it did not write. Calls of `put_if` exclude each other in
  /// all processes, but do not exclude a `put` at the same time.
  std::optional<std::int64_t> put_if(std::string_view key, std::span<const std::byte> bytes,
                                     std::int64_t generation) {
    check_key(key);
    directories_.prepare(root_);
    const auto lock = wait_for_lock();
    const auto before = version_at(path_of(key));
    if ((before ? before->generation : 0) != generation) return {};
    put(key, bytes);
    const auto after = version_at(path_of(key));
    if (!after) throw Error{"was removed while it was written", {.object = path_of(key).string()}};
    return after->generation;
  }

  void remove(std::string_view key) {
    check_key(key);
    Path path = path_of(key);
    if (!files_.list(path).empty()) return;  // a directory is no object
    bool removed = files_.remove(path);
    while (removed && path != root_) {
      path = path.parent_path();
      files_.sync_directory(path);
      removed = path != root_ && files_.list(path).empty() && directories_.remove(path);
    }
  }

 private:
  /// An object's content and the generation that belongs to it.
  struct Version {
    SharedBytes content;
    std::int64_t generation = 0;
  };

  static Path without_slash(Path path) {
    if (path.empty()) return ".";
    return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
  }

  static bool is_object(std::string_view name) {
    return !name.starts_with('.') && !name.ends_with(".partial");
  }

  template <class Wanted>
  [[nodiscard]] std::vector<std::string> collect_if(std::string_view key, const Wanted& wanted,
                                                    bool empty_ones = false) const {
    if (!key.empty()) check_key(key);
    std::vector<std::string> keys;
    collect(key.empty() ? root_ : path_of(key), key.empty() ? "" : std::string{key} + "/", wanted,
            empty_ones, keys);
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  /// Appends the wanted files, and empty directories if they are wanted too. Returns whether the
  /// directory is empty.
  template <class Wanted>
  bool collect(const Path& directory, const std::string& prefix, const Wanted& wanted,
               bool empty_ones, std::vector<std::string>& keys) const {
    const auto entries = files_.list(directory);
    for (const auto& entry : entries) {
      const std::string key = prefix + entry.name;
      const bool found =
          entry.is_directory
              ? collect(directory / entry.name, key + "/", wanted, empty_ones, keys) && empty_ones
              : wanted(entry.name);
      if (found) keys.push_back(key);
    }
    return entries.empty();
  }

  /// Opens an object for writing. Tries again if somebody removes the still empty directory.
  void create(std::optional<BasicAtomicFile<F>>& file, const Path& path) {
    constexpr int most_attempts = 10;
    const Path directory = path.parent_path();
    for (int attempt = 1; !file; ++attempt) {
      directories_.prepare(directory);
      try {
        file.emplace(path, files_);
      } catch (const Error&) {
        if (attempt == most_attempts || !directories_.make(directory)) throw;
      }
    }
  }

  /// Returns an object's content with the generation that belongs to it, or nothing if there is no
  /// object.
  [[nodiscard]] std::optional<Version> version_at(const Path& path) const {
    while (true) {
      const auto stamp = stamp_of(path);
      auto content = files_.read(path);
      if (stamp != stamp_of(path)) continue;  // replaced meanwhile
      if (!content) return {};
      const auto generation = generation_of(content->bytes, stamp);
      return Version{*std::move(content), generation};
    }
  }

  [[nodiscard]] std::uint64_t stamp_of(const Path& path) const {
    if constexpr (requires { files_.stamp(path); }) return files_.stamp(path);
    return 0;
  }

  static std::int64_t generation_of(std::span<const std::byte> bytes, std::uint64_t stamp) {
    const std::uint64_t content = Crc32c{}.update(bytes).value() | std::uint64_t{bytes.size()}
                                                                       << 32;
    const auto mixed = (content ^ stamp) * 0x9e3779b97f4a7c15 >> 1;
    return static_cast<std::int64_t>(std::max<std::uint64_t>(mixed, 1));
  }

  [[nodiscard]] Lock wait_for_lock() const {
    using namespace std::chrono_literals;
    const Path path = root_ / ".put_if.lock";
    for (auto waited = 0ms; waited < 60s; waited += 5ms) {
      if (auto lock = files_.try_lock(path)) return *std::move(lock);
      std::this_thread::sleep_for(5ms);
    }
    throw Error{"has been held by another process for a minute", {.object = path.string()}};
  }

  [[no_unique_address]] F files_;
  Path root_;
  DurableDirectories<F> directories_;
};

/// A directory on the machine's file system.
using Directory = BasicDirectory<>;

}  // namespace seqtrain::sink
