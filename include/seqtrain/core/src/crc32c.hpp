#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#include <seqtrain/core/crc32c.hpp>

namespace seqtrain::detail::crc32c {

constexpr std::array<std::array<std::uint32_t, 256>, 8> make_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? polynomial : 0);
    tables[0][byte] = rest;
  }
  for (std::size_t ahead = 1; ahead < 8; ++ahead) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto before = tables[ahead - 1][byte];
      tables[ahead][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

inline constexpr auto tables = make_tables();

/// Updates a state by tables, eight bytes a step, for processors without the instruction.
inline std::uint32_t by_table(std::uint32_t state, const std::byte* data, std::size_t size) {
  const auto byte_at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(data[i]); };
  for (; size >= 8; data += 8, size -= 8) {
    state ^= byte_at(0) | byte_at(1) << 8 | byte_at(2) << 16 | byte_at(3) << 24;
    state = tables[7][state & 0xff] ^ tables[6][(state >> 8) & 0xff] ^
            tables[5][(state >> 16) & 0xff] ^ tables[4][state >> 24] ^ tables[3][byte_at(4)] ^
            tables[2][byte_at(5)] ^ tables[1][byte_at(6)] ^ tables[0][byte_at(7)];
  }
  for (; size > 0; ++data, --size) state = (state >> 8) ^ tables[0][(state ^ byte_at(0)) & 0xff];
  return state;
}

#if defined(__x86_64__)
/// Multiplies a state by one fixed power of x with one table look-up for each byte.
class Shifter {
 public:
  explicit constexpr Shifter(std::uint64_t bytes) {
    const std::uint32_t factor = shift(bytes);
    for (std::uint32_t place = 0; place < 4; ++place) {
      for (std::uint32_t byte = 0; byte < 256; ++byte) {
        tables_[place][byte] = multiply(factor, byte << (8 * place));
      }
    }
  }
  [[nodiscard]] constexpr std::uint32_t operator()(std::uint32_t state) const {
    return tables_[0][state & 0xff] ^ tables_[1][(state >> 8) & 0xff] ^
           tables_[2][(state >> 16) & 0xff] ^ tables_[3][state >> 24];
  }

 private:
  std::array<std::array<std::uint32_t, 256>, 4> tables_{};
};

/// Updates a state by the processor's instruction in three lanes at once, because the instruction
/// takes three cycles and a new one can start in each.
__attribute__((target("sse4.2"))) inline std::uint32_t by_instruction(std::uint32_t state,
                                                                      const std::byte* data,
                                                                      std::size_t size) {
  constexpr std::size_t lane = 2048;
  static const Shifter one_lane{lane};
  const auto load = [](const std::byte* from) {
    std::uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
  };
  for (; size >= 3 * lane; data += 3 * lane, size -= 3 * lane) {
    std::uint64_t a = state, b = 0, c = 0;
    for (std::size_t i = 0; i < lane; i += 8) {
      a = _mm_crc32_u64(a, load(data + i));
      b = _mm_crc32_u64(b, load(data + lane + i));
      c = _mm_crc32_u64(c, load(data + 2 * lane + i));
    }
    const auto ab = one_lane(static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b);
    state = one_lane(ab) ^ static_cast<std::uint32_t>(c);
  }
  std::uint64_t rest = state;
  for (; size >= 8; data += 8, size -= 8) rest = _mm_crc32_u64(rest, load(data));
  state = static_cast<std::uint32_t>(rest);
  for (; size > 0; ++data, --size)
    state = _mm_crc32_u8(state, std::to_integer<unsigned char>(*data));
  return state;
}
#endif

SEQTRAIN_SEPARATE std::uint32_t advance(std::uint32_t state, std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  static const bool instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (instruction) return by_instruction(state, bytes.data(), bytes.size());
#endif
  return by_table(state, bytes.data(), bytes.size());
}

}  // namespace seqtrain::detail::crc32c
