#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/descriptors.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/system_error.hpp>

namespace seqtrain::buckets {

/// The content of an upload.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Returns the number of bytes, or nothing while it is not known.
  [[nodiscard]] virtual std::optional<std::uint64_t> size() const = 0;

  /// Fills `into` with the bytes from `offset` on and returns their number, which is smaller than
  /// `into` only at the end. Throws `Error` if they cannot be read.
  virtual std::size_t read(std::uint64_t offset, std::span<std::byte> into) = 0;

  /// Tells whether `read` may go back to an earlier offset.
  [[nodiscard]] virtual bool rewinds() const { return true; }
};

/// A file or a part of a file. Copies share the descriptor, and several threads may read them.
class FileSource final : public ByteSource {
 public:
  /// Opens `file`. Throws `InputError` if it is not a file that can be read.
  explicit FileSource(const std::filesystem::path& file) : name_{file.string()} {
    file_ =
        std::make_shared<OwnedDescriptor>(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file_->number < 0) {
      throw system_error<InputError>("cannot be read", name_);
    }
    struct ::stat status = {};
    if (::fstat(file_->number, &status) != 0 || !S_ISREG(status.st_mode)) {
      throw InputError{"not a regular file", {.object = name_}};
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  /// Returns a source of the `size` bytes from `offset` on.
  [[nodiscard]] FileSource part(std::uint64_t offset, std::uint64_t size) const {
    auto part = *this;
    part.start_ = start_ + offset;
    part.size_ = size;
    return part;
  }

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return size_; }

  std::size_t read(std::uint64_t offset, std::span<std::byte> into) override {
    into = into.first(std::min<std::uint64_t>(into.size(), size_ - std::min(offset, size_)));
    for (std::size_t done = 0; done < into.size();) {
      const auto got = ::pread(file_->number, into.data() + done, into.size() - done,
                               static_cast<off_t>(start_ + offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) throw Error{"became shorter while it was read", {.object = name_}};
      done += static_cast<std::size_t>(got);
    }
    return into.size();
  }

 private:
  std::string name_;
  std::shared_ptr<const OwnedDescriptor> file_;
  std::uint64_t start_ = 0;
  std::uint64_t size_ = 0;
};

/// Bytes in memory, which must outlive the source.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_{bytes} {}

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return bytes_.size(); }

  std::size_t read(std::uint64_t offset, std::span<std::byte> into) override {
    const auto rest = bytes_.subspan(std::min<std::uint64_t>(offset, bytes_.size()));
    const auto count = std::min(rest.size(), into.size());
    if (count > 0) std::memcpy(into.data(), rest.data(), count);
    return count;
  }

 private:
  std::span<const std::byte> bytes_;
};

/// Hands the bytes from `offset` to `end`, or to the end of the content, to `take` piece by piece.
template <class Take>
void read_pieces(ByteSource& source, std::uint64_t offset, std::uint64_t end, const Take& take) {
  std::vector<std::byte> piece(std::size_t{1} << 20);
  while (offset < end) {
    const auto room = std::span{piece}.first(std::min<std::uint64_t>(piece.size(), end - offset));
    const auto got = source.read(offset, room);
    take(std::span<const std::byte>{room.first(got)});
    offset += got;
    if (got < room.size()) return;
  }
}

/// Returns the checksum of a whole content.
inline Crc32c checksum_of(ByteSource& source) {
  Crc32c checksum;
  read_pieces(source, 0, std::numeric_limits<std::uint64_t>::max(),
              [&](std::span<const std::byte> bytes) { checksum.update(bytes); });
  return checksum;
}

/// Bytes that can be read only once, in order, and whose number is not known, such as those of a
/// pipe.
class StreamSource final : public ByteSource {
 public:
  /// Writes the next bytes into the span and returns their number, which is 0 at the end.
  using Reader = std::function<std::size_t(std::span<std::byte>)>;

  explicit StreamSource(Reader reader) : reader_{std::move(reader)} {}

  [[nodiscard]] std::optional<std::uint64_t> size() const override { return {}; }
  [[nodiscard]] bool rewinds() const override { return false; }

  std::size_t read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset != position_) throw Error{"a stream cannot be read twice"};
    std::size_t done = 0;
    while (done < into.size() && !ended_) {
      const auto got = reader_(into.subspan(done));
      ended_ = got == 0;
      done += got;
    }
    position_ += done;
    return done;
  }

 private:
  Reader reader_;
  std::uint64_t position_ = 0;
  bool ended_ = false;
};

}  // namespace seqtrain::buckets
