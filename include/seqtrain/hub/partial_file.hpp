#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>
#include <seqtrain/hub/digest.hpp>

namespace seqtrain::hub {

/// A file that a download fills, `<target>.incomplete`. It stays if the download is interrupted,
/// and the next download continues it. The caller must hold a lock against other writers. Throws
/// `Error` with the system's reason.
class PartialFile {
 public:
  /// Opens the file for a target whose content has this hash and size. A file that is longer than
  /// the content is emptied.
  PartialFile(std::filesystem::path target, std::string hash, std::uint64_t size)
      : target_{std::move(target)},
        path_{target_.string() + ".incomplete"},
        hash_{std::move(hash)},
        whole_{size},
        digest_{hash_, whole_},
        file_{::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)} {
    check(file_.number >= 0);
    digest_what_is_there();
    if (size_ > whole_) clear();
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  void append(std::span<const std::byte> bytes) {
    digest_.update(bytes);
    while (!bytes.empty()) {
      const auto done =
          ::pwrite(file_.number, bytes.data(), bytes.size(), static_cast<off_t>(size_));
      if (done < 0 && errno == EINTR) continue;
      check(done > 0);
      size_ += static_cast<std::uint64_t>(done);
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }

  /// Empties the file, so that a download can start at the first byte.
  void clear() {
    check(::ftruncate(file_.number, 0) == 0);
    size_ = 0;
    digest_ = Digest{hash_, whole_};
  }

  /// Renames the file to its target if it has the expected content. Otherwise empties it and
  /// returns false.
  [[nodiscard]] bool commit() {
    if (size_ != whole_ || !digest_.matches()) {
      clear();
      return false;
    }
    check(::fsync(file_.number) == 0);
    check(::rename(path_.c_str(), target_.c_str()) == 0);
    errno = sync_directory(target_.parent_path());
    check(errno == 0);
    return true;
  }

 private:
  void digest_what_is_there() {
    std::vector<std::byte> piece(std::size_t{1} << 20);
    while (true) {
      const auto got = ::pread(file_.number, piece.data(), piece.size(), static_cast<off_t>(size_));
      if (got < 0 && errno == EINTR) continue;
      check(got >= 0);
      if (got == 0) return;
      digest_.update(std::span{piece}.first(static_cast<std::size_t>(got)));
      size_ += static_cast<std::uint64_t>(got);
    }
  }

  void check(bool succeeded) const {
    if (succeeded) return;
    const bool full = errno == ENOSPC || errno == EDQUOT;
    throw Error{"cannot be written: " + std::generic_category().message(errno),
                {.object = path_.string()},
                full ? "make room, or name another place by HF_HUB_CACHE" : ""};
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
  std::string hash_;
  std::uint64_t whole_;
  Digest digest_;
  OwnedDescriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace seqtrain::hub
