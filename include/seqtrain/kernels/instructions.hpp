#pragma once

#include <seqtrain/kernels/clones.hpp>

#if SEQTRAIN_HAS_CLONES
#include <cpuid.h>

/// Marks a function that is one instruction of a set. clang lets only functions that are compiled
/// for the set name its registers. GCC inlines only functions that are compiled for no more than
/// their callers.
#if defined(__clang__)
#define SEQTRAIN_INSTRUCTION(set) [[gnu::target(set)]] inline
#else
#define SEQTRAIN_INSTRUCTION(set) SEQTRAIN_INLINE
#endif

namespace seqtrain::kernels::instruction {

// These are instructions that compilers do not generate from operators. Call them inside
// `vectorised`.

/// Replaces x by its square root.
SEQTRAIN_INSTRUCTION("sse2") void square_root(Width<4>::Floats& x) {
  asm("sqrtps %0, %0" : "+x"(x));
}
SEQTRAIN_INSTRUCTION("arch=x86-64-v3") void square_root(Width<8>::Floats& x) {
  asm("vsqrtps %0, %0" : "+x"(x));
}
SEQTRAIN_INSTRUCTION("arch=x86-64-v4") void square_root(Width<16>::Floats& x) {
  asm("vsqrtps %0, %0" : "+v"(x));
}

/// Computes y = 1 / x with a relative error of at most 2^-14.
SEQTRAIN_INSTRUCTION("arch=x86-64-v4")
void reciprocal(const Width<16>::Floats& x, Width<16>::Floats& y) {
  asm("vrcp14ps %1, %0" : "=v"(y) : "v"(x));
}

/// Rounds to bfloat16, if `has_bf16_instructions()`.
SEQTRAIN_INSTRUCTION("arch=x86-64-v4")
void round_to_bf16(const Width<16>::Floats& from, Width<16>::Halves& to) {
  asm("vcvtneps2bf16 %1, %0" : "=v"(to) : "v"(from));
}

/// Adds the products of two pairs of bfloat16 numbers to each float, if `has_bf16_instructions()`.
SEQTRAIN_INSTRUCTION("arch=x86-64-v4")
void add_bf16_products(Width<16>::Floats& sums, const Width<16>::Bits& a,
                       const Width<16>::Floats& b) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(b), "v"(a));
}

/// Adds the products of four unsigned and four signed bytes to each number, if
/// `has_int8_instructions`.
SEQTRAIN_INSTRUCTION("arch=x86-64-v3")
void add_byte_products(Width<8>::Ints& sums, const Width<8>::Ints& a, const Width<8>::Ints& b) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(a), "x"(b));
}
SEQTRAIN_INSTRUCTION("arch=x86-64-v4")
void add_byte_products(Width<16>::Ints& sums, const Width<16>::Ints& a, const Width<16>::Ints& b) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
}

/// Replaces each pair of signed 16-bit numbers in a by the sum of their products with the pair in
/// b.
SEQTRAIN_INSTRUCTION("sse2") void multiply_pairs(Width<4>::Ints& a, const Width<4>::Ints& b) {
  asm("pmaddwd %1, %0" : "+x"(a) : "x"(b));
}
SEQTRAIN_INSTRUCTION("arch=x86-64-v3")
void multiply_pairs(Width<8>::Ints& a, const Width<8>::Ints& b) {
  asm("vpmaddwd %1, %0, %0" : "+x"(a) : "x"(b));
}
SEQTRAIN_INSTRUCTION("arch=x86-64-v4")
void multiply_pairs(Width<16>::Ints& a, const Width<16>::Ints& b) {
  asm("vpmaddwd %1, %0, %0" : "+v"(a) : "v"(b));
}

/// Replaces each pair of unsigned bytes in a by the 16-bit sum of their products with the pair of
/// signed bytes in b. The sum saturates.
SEQTRAIN_INSTRUCTION("arch=x86-64-v3")
void multiply_byte_pairs(Width<8>::Ints& a, const Width<8>::Ints& b) {
  asm("vpmaddubsw %1, %0, %0" : "+x"(a) : "x"(b));
}

// clang 14's __builtin_cpu_supports does not know the next two.

/// Tells whether the processor has `add_byte_products` for Width<8>.
inline bool has_avx_vnni() {
  static const bool answer = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
  }();
  return answer;
}

/// Tells whether the processor has tiles for bfloat16 and int8 (AMX), and the system saves them.
inline bool has_tiles() {
  static const bool answer = [] {
    constexpr unsigned saved = 3U << 17;  // in the system's register of allowed states
    constexpr unsigned all = 1U << 22 | 1U << 24 | 1U << 25;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 27 & 1) == 0) return false;
    asm("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    if ((a & saved) != saved) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & all) == all;
  }();
  return answer;
}

}  // namespace seqtrain::kernels::instruction
#endif
