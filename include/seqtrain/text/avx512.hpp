#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

/// Marks a function that may be called only if `text::has_avx512()`.
#define SEQTRAIN_TEXT_AVX512 \
  __attribute__((target("avx512vbmi2,avx512bw,avx512dq,avx512vl,bmi2,popcnt")))

namespace seqtrain::text {

/// Returns whether the processor has them: Intel's servers since Ice Lake, AMD's since Zen 4.
inline bool has_avx512() noexcept {
  static const bool has =
      __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return has;
}

}  // namespace seqtrain::text

#endif
