#pragma once

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain {

/// Calls `work` and turns what the file system complains about meanwhile into an `Error` with the
/// path and the system's reason.
template <class Work>
void with_file_errors(const Work& work) {
  try {
    work();
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error{"cannot be written: " + error.code().message(), {.object = error.path1().string()}};
  }
}

/// Forces to the disk which names a directory has: without this a new one could be lost with the
/// power. Returns 0, also where the file system cannot do it, else the system's error number.
inline int sync_directory(const std::filesystem::path& path) {
  const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return errno;
  const int problem = ::fsync(directory) == 0 || errno == EINVAL ? 0 : errno;
  ::close(directory);
  return problem;
}

}  // namespace seqtrain
