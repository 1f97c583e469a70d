#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/files.hpp>

namespace seqtrain {

/// Writes a file that appears under its name as a whole or not at all. The content goes to
/// `<target>.partial`, is forced to the disk, and then the file is renamed. If the object is
/// destroyed before `commit`, it removes its file and leaves an older target as it is. If a killed
/// process left a partial file, the next writer overwrites it. While another live process writes
/// one, the name is `<target>.1.partial` and so on. Every failure throws `Error` with the file's
/// name and the system's reason.
template <class F = Files>
class BasicAtomicFile {
 public:
  explicit BasicAtomicFile(std::filesystem::path target, F files = {})
      : files_{std::move(files)}, target_{std::move(target)} {
    if constexpr (requires { files_.check_replaceable(target_); }) {
      files_.check_replaceable(target_);
    }
    create();
  }
  BasicAtomicFile(const BasicAtomicFile&) = delete;
  BasicAtomicFile& operator=(const BasicAtomicFile&) = delete;
  ~BasicAtomicFile() { discard(); }

  /// Appends bytes. Small pieces are gathered; large ones go straight to the system.
  void write(std::span<const std::byte> bytes) {
    size_ += bytes.size();
    if (buffer_.size() + bytes.size() > buffer_bytes) flush();
    if (bytes.size() > buffer_bytes) return files_.write(*file_, bytes);
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  /// Appends a text.
  void write(std::string_view text) { write(std::as_bytes(std::span{text})); }

  /// Writes `bytes` at `offset`. Several threads may do so at once if none appends. `size` does not
  /// count these bytes.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
    files_.write_at(*file_, offset, bytes);
  }

  /// Returns the number of bytes appended so far.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Returns the path at which the content is until `commit`. Appended bytes may not be there yet.
  [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }

  /// Makes the file visible. When it returns, file and name are on the disk. The last step forces
  /// the name to the disk: if only that fails, the new file is visible, but a loss of power may
  /// undo it.
  void commit() {
    flush();
    files_.sync(*file_);
    files_.rename(temporary_, target_);  // under the lock: no other writer may empty the file
    temporary_.clear();
    files_.close(*file_);
    file_.reset();
    files_.sync_directory(target_.has_parent_path() ? target_.parent_path() : ".");
  }

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

  void create() {
    constexpr int most_writers = 1000;
    for (int i = 0; i < most_writers && !file_; ++i) {
      temporary_ = target_;
      temporary_ += i == 0 ? ".partial" : "." + std::to_string(i) + ".partial";
      file_ = files_.create(temporary_);
    }
    if (file_) return;
    throw Error{"cannot be written: too many processes are writing it",
                {.object = target_.string()}};
  }

  void flush() {
    if (!buffer_.empty()) files_.write(*file_, std::as_bytes(std::span{buffer_}));
    buffer_.clear();
  }

  void discard() noexcept {
    if (!file_ || temporary_.empty()) return;
    try {
      files_.remove(temporary_);
    } catch (...) {  // the next writer of this target overwrites it
    }
  }

  [[no_unique_address]] F files_;
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::string buffer_;
  std::uint64_t size_ = 0;
  std::optional<typename F::Output> file_;
};

/// An atomic file on the machine's file system.
using AtomicFile = BasicAtomicFile<>;

/// Replaces the content of the file `path` by `text`, as a whole or not at all.
inline void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file{path};
  file.write(text);
  file.commit();
}

}  // namespace seqtrain
