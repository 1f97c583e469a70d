#pragma once

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include <stdlib.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>

namespace seqtrain {

/// Throws `InputError` unless files can be written into `directory`, which need not exist yet. To
/// find out, writes a file into it, or into the nearest existing directory above it, and removes
/// the file.
inline void check_writable(const std::filesystem::path& directory) {
  const auto fail = [&directory](const std::string& reason) {
    throw InputError{"cannot be written: " + reason, {.object = directory.string()}};
  };
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(directory, error);
  while (!error && !std::filesystem::exists(there, error) && there != there.parent_path()) {
    there = there.parent_path();
  }
  if (error) fail(error.message());
  if (!std::filesystem::is_directory(there, error)) fail(there.string() + " is not a directory");
  std::string name = (there / ".seqtrain-XXXXXX").string();
  const OwnedDescriptor file{::mkstemp(name.data())};
  const bool written = file.number >= 0 && ::write(file.number, "?", 1) == 1;
  const int reason = errno;
  if (file.number >= 0) ::unlink(name.c_str());
  if (!written) fail(std::generic_category().message(reason));
}

}  // namespace seqtrain
