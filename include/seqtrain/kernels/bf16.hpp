#pragma once

#include <bit>
#include <cstdint>

#include <seqtrain/kernels/clones.hpp>

namespace seqtrain::kernels {

/// A bfloat16 number in memory: the upper half of a float, laid out as torch's `BFloat16`.
struct Bf16 {
  std::uint16_t bits;
};

/// Tells whether the processor has instructions for products and for rounding of bfloat16.
SEQTRAIN_INLINE bool has_bf16_instructions() {
#if SEQTRAIN_HAS_CLONES
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

/// Returns the number itself, so that code for both types can call one name.
SEQTRAIN_INLINE float to_float(float value) {
  return value;
}
/// Returns the number as a float, which is exact.
SEQTRAIN_INLINE float to_float(Bf16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

/// Rounds to the nearest bfloat16, to even on a tie. NaN stays NaN.
SEQTRAIN_INLINE Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return {static_cast<std::uint16_t>((is_nan ? bits | 0x400000 : rounded) >> 16)};
}

/// Returns the number as a T: rounded to the nearest bfloat16, or as it is.
template <class T>
SEQTRAIN_INLINE T from_float(float value) {
  if constexpr (sizeof(T) == sizeof(Bf16)) {
    return to_bf16(value);
  } else {
    return value;
  }
}

}  // namespace seqtrain::kernels
