#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <stdlib.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/system_error.hpp>

namespace seqtrain {

/// Keeps bytes on the disk, in a file without a name, until they are read back once. The system
/// removes the file when the object or the process ends, however it ends. Failures throw `Error`
/// with the name of the file that the bytes are meant for.
class SpoolFile {
 public:
  /// Creates the file in the directory of `target`. Errors have the name of `target`.
  explicit SpoolFile(std::filesystem::path target) : target_{std::move(target)} {
    std::string name = target_.string() + ".XXXXXX";
    file_ = OwnedDescriptor{::mkstemp(name.data())};
    check(file_.number >= 0);
    ::unlink(name.c_str());
  }

  /// Appends bytes.
  void write(std::span<const std::byte> bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    if (buffer_.size() >= block) flush();
  }

  /// Calls `take` with all bytes that were written, piece by piece.
  template <class Take>
  void read(const Take& take) {
    flush();
    buffer_.resize(block);
    for (std::uint64_t at = 0; at < size_;) {
      const auto got = ::pread(file_.number, buffer_.data(), block, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) errno = EIO;  // somebody else has cut the file
      check(got > 0);
      take(std::span<const std::byte>{buffer_}.first(static_cast<std::size_t>(got)));
      at += static_cast<std::uint64_t>(got);
    }
    buffer_.clear();
  }

 private:
  static constexpr std::size_t block = std::size_t{1} << 18;

  void flush() {
    for (std::span<const std::byte> rest{buffer_}; !rest.empty();) {
      const auto sent = ::write(file_.number, rest.data(), rest.size());
      if (sent < 0 && errno == EINTR) continue;
      check(sent > 0);
      size_ += static_cast<std::uint64_t>(sent);
      rest = rest.subspan(static_cast<std::size_t>(sent));
    }
    buffer_.clear();
  }

  void check(bool succeeded) const {
    if (!succeeded) throw system_error("cannot be written", target_.string());
  }

  std::filesystem::path target_;
  OwnedDescriptor file_{-1};
  std::uint64_t size_ = 0;  ///< bytes in the file
  std::vector<std::byte> buffer_;
};

}  // namespace seqtrain
