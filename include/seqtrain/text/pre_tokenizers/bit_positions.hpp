#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

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

}  // namespace seqtrain::text
