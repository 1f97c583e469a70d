#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/core/system_error.hpp>

namespace seqtrain {

/// Holds a file's lock against other processes and threads. The destructor frees it, and so does
/// the system when the process dies. A missing file is created, and stays.
class FileLock {
 public:
  /// Waits for the lock. Tells the log, if there is one, that somebody else holds it. Throws
  /// `Error` if the file cannot be locked.
  explicit FileLock(const std::filesystem::path& path,
                    const std::function<void(std::string_view)>& log = {})
      : FileLock{open(path)} {
    if (lock(LOCK_EX | LOCK_NB)) return;
    if (errno == EWOULDBLOCK && log) log("waiting for another process that holds " + path.string());
    if (!lock(LOCK_EX)) fail(path);
  }

  /// Returns the lock, or nothing if somebody else holds it.
  static std::optional<FileLock> attempt(const std::filesystem::path& path) {
    FileLock held{open(path)};
    if (held.lock(LOCK_EX | LOCK_NB)) return held;
    if (errno != EWOULDBLOCK) fail(path);
    return {};
  }

 private:
  explicit FileLock(int file) : file_{file} {}

  static int open(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) fail(path);
    return file;
  }

  [[nodiscard]] bool lock(int how) const {
    while (::flock(file_.number, how) != 0) {
      if (errno != EINTR) return false;
    }
    return true;
  }

  [[noreturn]] static void fail(const std::filesystem::path& path) {
    throw system_error("cannot be locked", path.string());
  }

  OwnedDescriptor file_;
};

/// Creates a directory and locks it against other programs that call this, until the lock is
/// destroyed. Throws `InputError` if another program has locked it.
[[nodiscard]] inline FileLock lock_directory(const std::filesystem::path& directory) {
  with_file_errors([&] { std::filesystem::create_directories(directory); });
  auto held = FileLock::attempt(directory / ".lock");
  if (held) return *std::move(held);
  throw InputError{"another program writes its run here",
                   {.object = directory.string()},
                   "wait for it or name another directory"};
}

/// Bytes that live as long as any copy of this object.
struct SharedBytes {
  std::shared_ptr<const void> owner = {};
  std::span<const std::byte> bytes = {};

  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

/// The operating system's file calls, as a policy that tests replace by a simulated disk. Every
/// failure throws `Error` with the path and the system's reason.
class Files {
 public:
  using Path = std::filesystem::path;

  /// A file that is being written. The destructor closes it, which frees its lock.
  class Output {
    friend class Files;
    Output(Path path, int opened) : path_{std::move(path)}, file_{opened} {}

    Path path_;
    OwnedDescriptor file_;
  };

  using Lock = FileLock;

  /// A name in a directory.
  struct Entry {
    std::string name;
    bool is_directory = false;
  };

  /// Opens a file for writing under an exclusive lock and empties it. Returns nothing if another
  /// live writer holds it. If the file system has no locks, the caller must be the only writer.
  [[nodiscard]] std::optional<Output> create(const Path& path) const {
    while (true) {
      // Without O_NONBLOCK a pipe of that name would be waited for.
      Output file{path, ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666)};
      check(file.file_.number >= 0, "cannot be written", path);
      if (!lock(file)) return {};
      if (!is_at(file, path)) continue;  // removed or renamed before the lock was ours
      check(::ftruncate(file.file_.number, 0) == 0, "cannot be written", path);
      return file;
    }
  }

  /// Throws `Error` if there is something at a path that a file must not replace, such as a device
  /// or a pipe.
  void check_replaceable(const Path& path) const {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
        std::filesystem::is_directory(status)) {
      return;
    }
    throw Error{"is not a regular file", {.object = path.string()}, "name another place"};
  }

  /// Appends all of `bytes`.
  void write(Output& file, std::span<const std::byte> bytes) const {
    send(file, bytes, [&](std::span<const std::byte> rest) {
      return ::write(file.file_.number, rest.data(), rest.size());
    });
  }

  /// Writes `bytes` at `offset`. Several threads may do so at once.
  void write_at(const Output& file, std::uint64_t offset, std::span<const std::byte> bytes) const {
    send(file, bytes, [&](std::span<const std::byte> rest) {
      const auto at = static_cast<off_t>(offset + (bytes.size() - rest.size()));
      return ::pwrite(file.file_.number, rest.data(), rest.size(), at);
    });
  }

  /// Waits until the content is on the disk.
  void sync(Output& file) const {
    check(::fsync(file.file_.number) == 0, "cannot be written", file.path_);
  }

  /// Closes a file. Throws `Error` if the system reports that a write has failed.
  void close(Output& file) const {
    const int problem = ::close(std::exchange(file.file_.number, -1));
    check(problem == 0 || errno == EINTR, "cannot be written", file.path_);
  }

  /// Renames a file; a file with the new name is replaced in one step.
  void rename(const Path& from, const Path& to) const {
    check(::rename(from.c_str(), to.c_str()) == 0, "cannot be written", to);
  }

  /// Removes a file or an empty directory. Returns false if there is none.
  bool remove(const Path& path) const {
    if (::remove(path.c_str()) == 0) return true;
    check(is_missing(errno), "cannot be removed", path);
    return false;
  }

  /// Makes a directory in a parent that exists. Returns false if it is there already.
  bool make_directory(const Path& path) const {
    if (::mkdir(path.c_str(), 0777) == 0) return true;
    check(errno == EEXIST, "cannot be created", path);
    return false;
  }

  /// Waits until the names in the directory are on the disk. Succeeds if the file system cannot do
  /// so (EINVAL).
  void sync_directory(const Path& path) const {
    errno = seqtrain::sync_directory(path);
    check(errno == 0, "cannot be written", path);
  }

  /// Returns the directory's entries sorted by name, or none if there is no such directory.
  [[nodiscard]] std::vector<Entry> list(const Path& path) const {
    std::vector<Entry> entries;
    std::error_code error, ignored;
    std::filesystem::directory_iterator entry{path, error};
    if (is_missing(error.value())) return entries;
    for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
      entries.push_back({entry->path().filename().string(), entry->is_directory(ignored)});
    }
    errno = error.value();
    check(!error, "cannot be listed", path);
    std::ranges::sort(entries, {}, &Entry::name);
    return entries;
  }

  /// Maps a file and returns its bytes, or nothing if there is no such file. Nobody may shorten the
  /// file meanwhile; it may be replaced by `rename`.
  [[nodiscard]] std::optional<SharedBytes> read(const Path& path) const {
    const Output file{path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.file_.number < 0 && is_missing(errno)) return {};
    struct ::stat status = {};
    const bool opened = file.file_.number >= 0 && ::fstat(file.file_.number, &status) == 0;
    if (!opened && (errno == ELOOP || errno == ENAMETOOLONG)) {
      throw system_error<InputError>("cannot be read", path.string());
    }
    check(opened, "cannot be read", path);
    if (S_ISDIR(status.st_mode)) return {};
    if (!S_ISREG(status.st_mode)) {
      throw InputError{"is not a regular file", {.object = path.string()}};
    }
    return map(file, static_cast<std::size_t>(status.st_size));
  }

  /// Returns a number that identifies the file at a path, or 0 if there is none. A file that
  /// replaces another has a different number.
  [[nodiscard]] std::uint64_t stamp(const Path& path) const {
    struct ::stat status = {};
    if (::stat(path.c_str(), &status) != 0) return 0;
    const auto time = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                      static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
    return time ^ (status.st_ino * 0x9e3779b97f4a7c15);
  }

  /// Locks a file, which is created if it is missing and is never removed. Returns nothing if
  /// somebody else holds the lock.
  [[nodiscard]] std::optional<Lock> try_lock(const Path& path) const {
    return FileLock::attempt(path);
  }

 private:
  static bool is_missing(int problem) { return problem == ENOENT || problem == ENOTDIR; }

  static void check(bool succeeded, const char* problem, const Path& path) {
    if (!succeeded) throw system_error(problem, path.string());
  }

  template <class Send>
  static void send(const Output& file, std::span<const std::byte> bytes, const Send& some) {
    while (!bytes.empty()) {
      const auto sent = some(bytes);
      if (sent < 0 && errno == EINTR) continue;
      check(sent > 0, "cannot be written", file.path_);
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }

  /// Locks the file. Returns false if somebody else holds the lock.
  static bool lock(const Output& file) {
    while (::flock(file.file_.number, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return false;
      if (errno == ENOSYS || errno == EOPNOTSUPP) return true;
      check(errno == EINTR, "cannot be locked", file.path_);
    }
    return true;
  }

  static bool is_at(const Output& file, const Path& path) {
    struct ::stat here = {}, there = {};
    check(::fstat(file.file_.number, &here) == 0, "cannot be written", path);
    if (::stat(path.c_str(), &there) != 0) return false;
    return here.st_dev == there.st_dev && here.st_ino == there.st_ino;
  }

  static SharedBytes map(const Output& file, std::size_t size) {
    if (size == 0) return {};
    void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.file_.number, 0);
    check(bytes != MAP_FAILED, "cannot be read", file.path_);
    const auto unmap = [size](void* begin) { ::munmap(begin, size); };
    return {std::shared_ptr<void>{bytes, unmap}, {static_cast<const std::byte*>(bytes), size}};
  }
};

}  // namespace seqtrain
