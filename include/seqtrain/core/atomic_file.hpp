#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/file_system.hpp>

namespace seqtrain {

/// A file that appears under its name whole or not at all: written beside it, forced to the disk,
/// then renamed over it. Destroyed before `commit`, it leaves nothing behind and an older file of
/// that name untouched. Every failure throws `Error` with the target's name and the system's
/// reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path target) : target_{std::move(target)} { create(); }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() { discard(); }

  /// Appends; small pieces are gathered, large ones go straight to the system.
  void write(std::span<const std::byte> bytes) {
    size_ += bytes.size();
    if (buffer_.size() + bytes.size() > buffer_bytes) flush();
    if (bytes.size() > buffer_bytes) return send(bytes);
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void write(std::string_view text) { write(std::as_bytes(std::span{text})); }

  /// Writes `bytes` at their place in the file. Safe from several threads, as long as none appends;
  /// `size` does not count it.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (sent < 0 && errno == EINTR) continue;
      check(sent > 0);
      offset += static_cast<std::uint64_t>(sent);
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }

  /// Bytes written so far.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }

  /// Makes the file visible. When it returns, file and name are on the disk.
  void commit() {
    flush();
    check(::fsync(file_) == 0);
    check(::close(std::exchange(file_, -1)) == 0);
    check(::rename(temporary_.c_str(), target_.c_str()) == 0);
    temporary_.clear();
    errno = sync_directory(target_.has_parent_path() ? target_.parent_path() : ".");
    check(errno == 0);
  }

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

  void create() {
    static std::atomic<unsigned> counter{0};
    for (int attempt = 0; attempt < 100; ++attempt) {
      auto name = target_;
      name += "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".partial";
      file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ >= 0) temporary_ = std::move(name);
      if (file_ >= 0 || errno != EEXIST) break;
    }
    check(file_ >= 0);
  }

  void flush() {
    send(std::as_bytes(std::span{buffer_}));
    buffer_.clear();
  }

  void send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto sent = ::write(file_, bytes.data(), bytes.size());
      if (sent < 0 && errno == EINTR) continue;
      check(sent > 0);
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
  }

  void discard() noexcept {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void check(bool succeeded) const {
    if (succeeded) return;
    const auto reason = std::generic_category().message(errno);
    throw Error{"cannot be written: " + reason, {.object = target_.string()}};
  }

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::string buffer_;
  std::uint64_t size_ = 0;
  int file_ = -1;
};

/// Replaces the file `path` by `text`, whole or not at all.
inline void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file{path};
  file.write(text);
  file.commit();
}

}  // namespace seqtrain
