#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/atomic_file.hpp>

namespace seqtrain::predict {

/// Returns the header of a table of fp32 in numpy's format, version 1.0.
[[nodiscard]] inline std::string npy_header(std::uint64_t rows, std::uint64_t columns) {
  constexpr std::size_t size = 128;
  std::string header{"\x93NUMPY\x01\x00\x76\x00", 10};  // 118 bytes follow
  header += "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
            std::to_string(columns) + "), }";
  header.resize(size - 1, ' ');
  return header + '\n';
}

/// Writes a table of fp32 in numpy's format. The file appears when the table is complete.
class NpyFile {
 public:
  static_assert(std::endian::native == std::endian::little);

  explicit NpyFile(std::filesystem::path target) : file_{std::move(target)} {}

  /// Appends the bytes of numbers.
  void write(std::string_view numbers) {
    file_.write_at(end_, std::as_bytes(std::span{numbers}));
    end_ += numbers.size();
  }

  /// Makes the file visible, with so many rows.
  void commit(std::uint64_t rows) {
    const std::uint64_t numbers = (end_ - begin) / sizeof(float);
    const std::string header = npy_header(rows, rows == 0 ? 0 : numbers / rows);
    file_.write_at(0, std::as_bytes(std::span{header}));
    file_.commit();
  }

 private:
  static constexpr std::uint64_t begin = 128;

  AtomicFile file_;
  std::uint64_t end_ = begin;
};

}  // namespace seqtrain::predict
