#pragma once

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/system_error.hpp>

namespace seqtrain {

/// Returns the content of a regular file, in memory with room for `spare` more bytes. Throws
/// `InputError` if it is missing, cannot be read or is no regular file. So a pipe, which may have
/// no writer, is refused and not waited for.
[[nodiscard]] inline std::string read_text(const std::filesystem::path& file,
                                           std::size_t spare = 0) {
  const auto fail = [&file] { return system_error<InputError>("cannot be read", file.string()); };
  const OwnedDescriptor opened{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct ::stat status = {};
  if (opened.number < 0 || ::fstat(opened.number, &status) != 0) throw fail();
  if (!S_ISREG(status.st_mode)) {
    throw InputError{
        S_ISDIR(status.st_mode) ? "is a directory, not a file" : "is not a regular file",
        {.object = file.string()}};
  }
  std::string text;
  text.reserve(static_cast<std::size_t>(status.st_size) + spare);
  text.resize(static_cast<std::size_t>(status.st_size));
  std::size_t size = 0;
  while (size < text.size()) {
    const auto count = ::read(opened.number, text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw fail();
    if (count == 0) break;  // somebody has shortened it
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return text;
}

}  // namespace seqtrain
