#pragma once

/// Marks a loop to be compiled for several instruction sets, the best of which the loader picks on
/// the machine at hand. Only where the compiler can (GCC on x86-64); the sanitizers start too late
/// for the choosing.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SEQTRAIN_CLONES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define SEQTRAIN_CLONES
#endif

/// Marks what must become part of such a loop.
#define SEQTRAIN_INLINE [[gnu::always_inline]] inline
