#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <seqtrain/text/avx2.hpp>
#include <seqtrain/text/avx512.hpp>

namespace seqtrain::text {

/// Returns the number of set bits. `std::popcount` is a function call unless the compiler targets
/// newer processors.
[[nodiscard]] constexpr std::size_t count_bits(std::uint64_t bits) noexcept {
  bits -= bits >> 1 & 0x5555555555555555u;
  bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
  return ((bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56;
}

/// Writes `at` + i for each set bit i and returns the end. It may write up to 16 values past that
/// end: few blocks have more than 16 set bits, so 16 are written without a branch.
inline std::uint16_t* write_positions(std::uint64_t bits, std::size_t at,
                                      std::uint16_t* out) noexcept {
  std::uint16_t* const end = out + count_bits(bits);
  do {
    for (int i = 0; i < 16; ++i) {
      *out++ = static_cast<std::uint16_t>(at + static_cast<std::size_t>(std::countr_zero(bits)));
      bits &= bits - 1;
    }
  } while (bits != 0);
  return end;
}

#if defined(__x86_64__)
/// Does the work of `write_all_positions` with AVX2's instructions for single bits. It may write up
/// to 16 values past the end.
SEQTRAIN_TEXT_AVX2 inline std::uint16_t* write_all_positions_avx2(const std::uint64_t* blocks,
                                                                  std::size_t count,
                                                                  std::uint16_t* out) noexcept {
  for (std::size_t block = 0; block < count; ++block) {
    std::uint64_t bits = blocks[block];
    std::uint16_t* to = out;
    out += _mm_popcnt_u64(bits);
    do {
      for (int i = 0; i < 16; ++i) {
        *to++ = static_cast<std::uint16_t>(64 * block + _tzcnt_u64(bits));
        bits = _blsr_u64(bits);
      }
    } while (bits != 0);
  }
  return out;
}

/// Does the work of `write_all_positions` with AVX-512. It may write up to 32 values past the end.
SEQTRAIN_TEXT_AVX512 inline std::uint16_t* write_all_positions_avx512(const std::uint64_t* blocks,
                                                                      std::size_t count,
                                                                      std::uint16_t* out) noexcept {
  alignas(64) static constexpr auto places = [] {
    std::array<std::uint8_t, 64> result{};
    for (std::size_t i = 0; i < 64; ++i) result[i] = static_cast<std::uint8_t>(i);
    return result;
  }();
  const __m512i all = _mm512_load_si512(places.data());
  for (std::size_t block = 0; block < count; ++block) {
    const __m512i found = _mm512_maskz_compress_epi8(blocks[block], all);
    const __m512i begin = _mm512_set1_epi16(static_cast<short>(64 * block));
    const auto size = static_cast<std::size_t>(_mm_popcnt_u64(blocks[block]));
    const __m256i front = _mm512_maskz_extracti64x4_epi64(0xF, found, 0);
    _mm512_storeu_si512(out, _mm512_add_epi16(begin, _mm512_cvtepu8_epi16(front)));
    if (size > 32) {
      const __m256i back = _mm512_maskz_extracti64x4_epi64(0xF, found, 1);
      _mm512_storeu_si512(out + 32, _mm512_add_epi16(begin, _mm512_cvtepu8_epi16(back)));
    }
    out += size;
  }
  return out;
}
#endif

/// Writes the positions of the set bits of `count` neighbouring blocks and returns the end. It may
/// write up to 32 values past that end.
inline std::uint16_t* write_all_positions(const std::uint64_t* blocks, std::size_t count,
                                          std::uint16_t* out) noexcept {
#if defined(__x86_64__)
  if (has_avx512()) return write_all_positions_avx512(blocks, count, out);
  if (has_avx2()) return write_all_positions_avx2(blocks, count, out);
#endif
  for (std::size_t block = 0; block < count; ++block) {
    out = write_positions(blocks[block], 64 * block, out);
  }
  return out;
}

}  // namespace seqtrain::text
