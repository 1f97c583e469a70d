#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/gcs/timing.hpp>

namespace seqtrain::gcs {

/// Holds a file's lock against other processes and threads as long as it lives. The system frees it
/// when a process dies.
class FileLock {
 public:
  /// Waits for whoever holds it, and says so in the log.
  FileLock(const std::filesystem::path& path, const Log& log)
      : file_{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)} {
    if (file_ < 0) fail(path);
    if (::flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    if (errno == EWOULDBLOCK && log) log("waiting for another process that holds " + path.string());
    while (::flock(file_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      const int reason = errno;
      ::close(file_);
      errno = reason;
      fail(path);
    }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock() { ::close(file_); }

 private:
  [[noreturn]] static void fail(const std::filesystem::path& path) {
    throw Error{"cannot be locked: " + std::generic_category().message(errno),
                {.object = path.string()}};
  }

  int file_;
};

}  // namespace seqtrain::gcs
