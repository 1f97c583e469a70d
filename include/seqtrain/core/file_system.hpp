#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/system_error.hpp>

namespace seqtrain {

/// Calls `work`. Turns an error of the file system into an `Error` with the path and the system's
/// reason.
template <class Work>
void with_file_errors(const Work& work) {
  try {
    work();
  } catch (const std::filesystem::filesystem_error& error) {
    throw system_error("cannot be written", error.path1().string(), error.code().value());
  }
}

namespace detail {

/// Opens a file or a directory with `flags` and forces its content to the disk. Returns 0 or the
/// system's error number. Succeeds if the file system has no such call.
inline int sync_opened_with(int flags, const std::filesystem::path& path) {
  const OwnedDescriptor opened{::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)};
  if (opened.number < 0) return errno;
  return ::fsync(opened.number) == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace detail

/// Forces the names in a directory to the disk. Without this, a loss of power may undo a new name.
/// Returns 0 or the system's error number. Succeeds if the file system has no such call.
inline int sync_directory(const std::filesystem::path& path) {
  return detail::sync_opened_with(O_DIRECTORY, path);
}

/// Forces a file's content to the disk. Returns 0 or the system's error number. Succeeds if the
/// file system has no such call.
inline int sync_file(const std::filesystem::path& path) {
  return detail::sync_opened_with(0, path);
}

/// Forces a directory and all files and directories below it to the disk. Throws
/// `filesystem_error`.
inline void sync_tree(const std::filesystem::path& directory) {
  const auto check = [](int problem, const std::filesystem::path& path) {
    if (problem == 0) return;
    throw std::filesystem::filesystem_error{"fsync", path, {problem, std::generic_category()}};
  };
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    if (entry.is_symlink()) continue;
    if (entry.is_directory()) sync_tree(entry.path());
    if (entry.is_regular_file()) check(sync_file(entry.path()), entry.path());
  }
  check(sync_directory(directory), directory);
}

/// Throws `InputError` unless files can be written into `directory`, which need not exist yet. To
/// find out, writes a file into it, or into the nearest existing directory above it, and removes
/// the file.
inline void check_writable(const std::filesystem::path& directory) {
  const auto fail = [&directory](int reason) {
    throw system_error<InputError>("cannot be written", directory.string(), reason);
  };
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(directory, error);
  while (!error && !std::filesystem::exists(there, error) && there != there.parent_path()) {
    std::error_code none;
    if (std::filesystem::is_symlink(there, none)) {
      throw InputError{"cannot be written: " + there.string() + " is a link to nothing",
                       {.object = directory.string()}};
    }
    there = there.parent_path();
  }
  if (error) fail(error.value());
  if (!std::filesystem::is_directory(there, error)) {
    throw InputError{"cannot be written: " + there.string() + " is not a directory",
                     {.object = directory.string()}};
  }
  std::string name = (there / ".seqtrain-XXXXXX").string();
  const OwnedDescriptor file{::mkstemp(name.data())};
  const bool written = file.number >= 0 && ::write(file.number, "?", 1) == 1;
  const int reason = errno;
  if (file.number >= 0) ::unlink(name.c_str());
  if (!written) fail(reason);
}

}  // namespace seqtrain
