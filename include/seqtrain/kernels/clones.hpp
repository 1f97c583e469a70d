#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Marks a function that must be inlined into a loop that is compiled for several instruction sets.
#define SEQTRAIN_INLINE [[gnu::always_inline]] inline
/// Marks a lambda that must be inlined. It stands after the lambda's parameters.
#define SEQTRAIN_INLINE_LAMBDA __attribute__((always_inline))

/// Tells whether the compiler can compile a function for several instruction sets.
#if defined(__x86_64__) && defined(__GNUC__)
#define SEQTRAIN_HAS_CLONES 1
#else
#define SEQTRAIN_HAS_CLONES 0
#endif

/// Marks a function that compiles code for AVX-512. Without it, clang would split each vector in
/// two.
#if defined(__clang__)
#define SEQTRAIN_FULL_WIDTH [[clang::min_vector_width(512)]]
#else
#define SEQTRAIN_FULL_WIDTH
#endif

namespace seqtrain::kernels {

/// A vector of n floats, which fills one register.
template <std::size_t n>
struct Width {
  using Floats [[gnu::vector_size(4 * n)]] = float;
  using Bits [[gnu::vector_size(4 * n)]] = std::uint32_t;
  using Ints [[gnu::vector_size(4 * n)]] = std::int32_t;
  using Halves [[gnu::vector_size(2 * n)]] = std::uint16_t;
  using Bytes [[gnu::vector_size(n)]] = std::uint8_t;
};

namespace detail {

#if SEQTRAIN_HAS_CLONES
inline bool has_avx512() {
#if defined(__clang__)  // clang's __builtin_cpu_supports does not know x86-64-v4
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  return __builtin_cpu_supports("x86-64-v4");
#endif
}
inline bool has_avx2() {
#if defined(__clang__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
  return __builtin_cpu_supports("x86-64-v3");
#endif
}

template <class Body>
SEQTRAIN_FULL_WIDTH [[gnu::target("arch=x86-64-v4")]] void run_on_avx512(Body body) {
  body(Width<16>{});
}
template <class Body>
[[gnu::target("arch=x86-64-v3")]] void run_on_avx2(Body body) {
  body(Width<8>{});
}
#endif

}  // namespace detail

/// Calls body(Width<n>{}), compiled for the best instruction set of this machine. n is the number
/// of floats in one of its registers; longer vectors would go through memory. `body` is a lambda
/// that is marked SEQTRAIN_INLINE_LAMBDA and captures by copy, so that the compiler keeps the
/// captures in registers.
template <class Body>
void vectorised(Body body) {
  static_assert(std::is_trivially_copyable_v<Body>);
#if SEQTRAIN_HAS_CLONES
  if (detail::has_avx512()) return detail::run_on_avx512(body);
  if (detail::has_avx2()) return detail::run_on_avx2(body);
#endif
  body(Width<4>{});
}

}  // namespace seqtrain::kernels
