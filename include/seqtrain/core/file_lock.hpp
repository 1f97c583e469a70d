#pragma once

#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>

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
    throw Error{"cannot be locked: " + std::generic_category().message(errno),
                {.object = path.string()}};
  }

  OwnedDescriptor file_;
};

}  // namespace seqtrain
