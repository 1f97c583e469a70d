#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace seqtrain::weights {

namespace detail::crc32 {

using Table = std::array<std::uint32_t, 256>;

/// Returns tables in which tables[k][b] is the checksum of byte b followed by k zero bytes.
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? 0xedb88320u : 0u);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto before = tables[k - 1][byte];
      tables[k][byte] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

inline constexpr auto tables = make_tables();

}  // namespace detail::crc32

/// Returns the CRC-32 of ITU-T V.42, the checksum of zip files. It takes eight bytes a step.
inline std::uint32_t crc32(std::span<const std::byte> bytes) {
  using detail::crc32::tables;
  std::uint32_t state = 0xffffffff;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint32_t words[2];
    std::memcpy(words, bytes.data(), sizeof words);
    words[0] ^= state;
    state = tables[7][words[0] & 0xff] ^ tables[6][words[0] >> 8 & 0xff] ^
            tables[5][words[0] >> 16 & 0xff] ^ tables[4][words[0] >> 24] ^
            tables[3][words[1] & 0xff] ^ tables[2][words[1] >> 8 & 0xff] ^
            tables[1][words[1] >> 16 & 0xff] ^ tables[0][words[1] >> 24];
  }
  for (const auto byte : bytes) {
    state = state >> 8 ^ tables[0][(state ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  }
  return ~state;
}

}  // namespace seqtrain::weights
