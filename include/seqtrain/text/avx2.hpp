#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

/// Marks a function that may be called only if `text::has_avx2()`.
#define SEQTRAIN_TEXT_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace seqtrain::text {

/// Returns whether the processor has AVX2 and its companions for single bits: Intel's since
/// Haswell, AMD's since Excavator.
inline bool has_avx2() noexcept {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return has;
}

}  // namespace seqtrain::text

#endif
