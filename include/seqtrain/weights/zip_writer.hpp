#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <zlib.h>

#include <seqtrain/core/atomic_file.hpp>
#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/weights/zip.hpp>

namespace seqtrain::weights {

/// Writes a zip archive of uncompressed entries. Contents begin at multiples of 64 bytes, as
/// torch's do. Sizes and offsets always go into zip64 fields, so that small and large archives use
/// the same code. The file appears at `commit`. It holds no times, so equal content gives equal
/// bytes.
class ZipWriter {
 public:
  explicit ZipWriter(std::filesystem::path target) : file_{std::move(target)} {}

  /// Writes `content` to the disk. It need not outlive the call.
  void add(std::string_view name, std::span<const std::byte> content) {
    const std::uint64_t offset = file_.size();
    const auto checksum = static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const unsigned char*>(content.data()), content.size()));
    file_.write(local_header(name, content.size(), checksum));
    file_.write(content);
    append_central_header(name, content.size(), checksum, offset);
    ++count_;
  }
  void add(std::string_view name, std::string_view content) {
    add(name, std::as_bytes(std::span{content}));
  }

  /// Writes the directory and makes the file visible.
  void commit() {
    const std::uint64_t offset = file_.size();
    file_.write(directory_);
    file_.write(end_records(offset));
    file_.commit();
  }

 private:
  using Format = detail::ZipFormat;
  static constexpr std::uint16_t version = 45;           // the first with zip64
  static constexpr std::uint16_t utf8_names = 1u << 11;  // flag bit 11
  static constexpr std::uint16_t stored = 0;
  static constexpr std::uint32_t january_1980 = 0x00210000;  // the earliest date, at midnight
  static constexpr std::uint16_t padding_extra = 0x4246;     // the id that torch pads with
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t zip64_local_size = 20;
  static constexpr std::size_t zip64_central_size = 28;

  template <std::unsigned_integral... T>
  static void append_all(std::string& out, T... numbers) {
    (append_little_endian(out, numbers), ...);
  }

  static std::uint16_t size16(std::size_t size) { return static_cast<std::uint16_t>(size); }

  [[nodiscard]] std::string local_header(std::string_view name, std::uint64_t size,
                                         std::uint32_t checksum) const {
    const std::size_t before = Format::local_size + name.size() + zip64_local_size + 4;
    const std::size_t padding = (alignment - (file_.size() + before) % alignment) % alignment;
    std::string out;
    append_all(out, Format::local_header, version, utf8_names, stored, january_1980, checksum,
               Format::in_extra, Format::in_extra, size16(name.size()),
               size16(zip64_local_size + 4 + padding));
    out += name;
    append_all(out, Format::zip64_extra, std::uint16_t{16}, size, size);
    append_all(out, padding_extra, size16(padding));
    return out.append(padding, '\0');
  }

  void append_central_header(std::string_view name, std::uint64_t size, std::uint32_t checksum,
                             std::uint64_t offset) {
    append_all(directory_, Format::central_header, version, version, utf8_names, stored,
               january_1980, checksum, Format::in_extra, Format::in_extra, size16(name.size()),
               size16(zip64_central_size));
    constexpr std::uint16_t no_comment = 0, first_disk = 0, no_attributes = 0;
    append_all(directory_, no_comment, first_disk, no_attributes, std::uint32_t{no_attributes},
               Format::in_extra);
    directory_ += name;
    append_all(directory_, Format::zip64_extra, std::uint16_t{24}, size, size, offset);
  }

  [[nodiscard]] std::string end_records(std::uint64_t directory_offset) const {
    const std::uint64_t size = directory_.size();
    const std::uint32_t first_disk = 0, one_disk = 1;
    std::string out;
    append_all(out, Format::end64, std::uint64_t{Format::end64_size - 12}, version, version,
               first_disk, first_disk, count_, count_, size, directory_offset);
    append_all(out, Format::end64_locator, first_disk, directory_offset + size, one_disk);
    constexpr std::uint16_t no_comment = 0;
    append_all(out, Format::end, first_disk, clamp<std::uint16_t>(count_),
               clamp<std::uint16_t>(count_), clamp<std::uint32_t>(size),
               clamp<std::uint32_t>(directory_offset), no_comment);
    return out;
  }

  /// Returns the number, or all ones if it does not fit, which refers the reader to the zip64
  /// record.
  template <class T>
  static T clamp(std::uint64_t number) {
    return static_cast<T>(std::min<std::uint64_t>(number, static_cast<T>(-1)));
  }

  AtomicFile file_;
  std::string directory_;
  std::uint64_t count_ = 0;
};

}  // namespace seqtrain::weights
