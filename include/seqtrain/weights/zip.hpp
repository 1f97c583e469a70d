#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/error.hpp>

namespace seqtrain::weights {

/// The entries of a zip archive by name, as views of the archive.
using ZipEntries = std::map<std::string, std::span<const std::byte>, std::less<>>;

namespace detail {

/// Layouts and signatures from PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3.
struct ZipFormat {
  static constexpr std::uint32_t local_header = 0x04034b50;
  static constexpr std::uint32_t central_header = 0x02014b50;
  static constexpr std::uint32_t end = 0x06054b50;
  static constexpr std::uint32_t end64 = 0x06064b50;
  static constexpr std::uint32_t end64_locator = 0x07064b50;
  static constexpr std::size_t local_size = 30;
  static constexpr std::size_t central_size = 46;
  static constexpr std::size_t end_size = 22;
  static constexpr std::size_t end64_size = 56;
  static constexpr std::size_t end64_locator_size = 20;
  static constexpr std::uint16_t zip64_extra = 1;
  static constexpr std::uint32_t in_extra = 0xffffffff;  ///< "look into the zip64 extra field"
};

/// Reads an archive by its central directory. Every access is checked.
class ZipReader {
 public:
  ZipReader(std::span<const std::byte> bytes, const std::string& file)
      : bytes_{bytes}, file_{&file} {}

  [[nodiscard]] ZipEntries read() const {
    ZipEntries entries;
    auto [count, at] = directory();
    for (; count > 0; --count) {
      const auto header = part(at, ZipFormat::central_size);
      require(number<std::uint32_t>(header, 0) == ZipFormat::central_header, broken_directory);
      const auto name_size = number<std::uint16_t>(header, 28);
      const auto extra_size = number<std::uint16_t>(header, 30);
      const auto name = as_text(part(at + ZipFormat::central_size, name_size));
      const auto extra = part(at + ZipFormat::central_size + name_size, extra_size);
      const bool added = entries.emplace(name, content(header, extra, std::string{name})).second;
      require(added, "two entries named " + std::string{name});
      at += ZipFormat::central_size + name_size + extra_size + number<std::uint16_t>(header, 32);
    }
    return entries;
  }

 private:
  using Bytes = std::span<const std::byte>;
  static constexpr const char* broken_directory = "its zip directory is broken";

  struct Directory {
    std::uint64_t entries;
    std::uint64_t offset;
  };

  [[nodiscard]] Directory directory() const {
    const auto at = find_end();
    const auto end = part(at, ZipFormat::end_size);
    if (at >= ZipFormat::end64_locator_size) {
      const auto locator = part(at - ZipFormat::end64_locator_size, ZipFormat::end64_locator_size);
      if (number<std::uint32_t>(locator, 0) == ZipFormat::end64_locator) {
        return directory64(number<std::uint64_t>(locator, 8));
      }
    }
    return {number<std::uint16_t>(end, 10), number<std::uint32_t>(end, 16)};
  }

  [[nodiscard]] Directory directory64(std::uint64_t at) const {
    const auto end = part(at, ZipFormat::end64_size);
    require(number<std::uint32_t>(end, 0) == ZipFormat::end64, broken_directory);
    return {number<std::uint64_t>(end, 32), number<std::uint64_t>(end, 48)};
  }

  /// Returns the position of the archive's last record, which a comment of up to 65535 bytes may
  /// follow.
  [[nodiscard]] std::size_t find_end() const {
    const std::size_t size = bytes_.size();
    for (std::size_t back = ZipFormat::end_size; back <= size; ++back) {
      const auto record = bytes_.subspan(size - back);
      const std::size_t comment = back - ZipFormat::end_size;
      if (comment > 0xffff) break;
      if (number<std::uint32_t>(record, 0) != ZipFormat::end) continue;
      if (number<std::uint16_t>(record, 20) == comment) return size - back;
    }
    throw error("no zip directory at its end", "it is not a zip archive, or was cut off");
  }

  [[nodiscard]] Bytes content(Bytes header, Bytes extra, const std::string& name) const {
    require((number<std::uint16_t>(header, 8) & 1u) == 0, "entry " + name + " is encrypted");
    require(number<std::uint16_t>(header, 10) == 0,
            "entry " + name + " is compressed; torch writes no such entries");
    std::uint64_t size = number<std::uint32_t>(header, 24);
    std::uint64_t stored = number<std::uint32_t>(header, 20);
    std::uint64_t offset = number<std::uint32_t>(header, 42);
    auto wide = zip64(extra);
    for (auto* field : {&size, &stored, &offset}) {
      if (*field != ZipFormat::in_extra) continue;
      require(wide.size() >= 8, broken_directory);
      *field = number<std::uint64_t>(wide, 0);
      wide = wide.subspan(8);
    }
    require(size == stored, "entry " + name + " has two sizes");
    return local_content(offset, size);
  }

  /// Returns the zip64 extra field among the others, or nothing.
  [[nodiscard]] Bytes zip64(Bytes extra) const {
    while (extra.size() >= 4) {
      const std::size_t size = number<std::uint16_t>(extra, 2);
      if (size > extra.size() - 4) break;
      if (number<std::uint16_t>(extra, 0) == ZipFormat::zip64_extra) return extra.subspan(4, size);
      extra = extra.subspan(4 + size);
    }
    return {};
  }

  [[nodiscard]] Bytes local_content(std::uint64_t at, std::uint64_t size) const {
    const auto header = part(at, ZipFormat::local_size);
    require(number<std::uint32_t>(header, 0) == ZipFormat::local_header, broken_directory);
    const std::size_t names =
        std::size_t{number<std::uint16_t>(header, 26)} + number<std::uint16_t>(header, 28);
    return part(at + ZipFormat::local_size + names, size);
  }

  [[nodiscard]] Bytes part(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      throw error("its zip directory points past its end", "was the file cut off?");
    }
    return bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

  template <std::unsigned_integral T>
  [[nodiscard]] static T number(Bytes bytes, std::size_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }

  void require(bool holds, const std::string& problem) const {
    if (!holds) throw error(problem);
  }

  [[nodiscard]] InputError error(const std::string& problem, const std::string& advice = {}) const {
    return InputError{problem, {.object = *file_}, advice};
  }

  Bytes bytes_;
  const std::string* file_;
};

}  // namespace detail

/// Returns the entries of a zip archive as torch writes it: not compressed, with zip64 if sizes
/// need it. Does not check checksums, because that would read the whole file. Throws `InputError`
/// with `file` if the archive is anything else.
inline ZipEntries parse_zip(std::span<const std::byte> bytes, const std::string& file) {
  return detail::ZipReader{bytes, file}.read();
}

}  // namespace seqtrain::weights
