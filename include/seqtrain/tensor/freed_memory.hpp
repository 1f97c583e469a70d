#pragma once

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace seqtrain::tensor {

/// Keeps freed memory in the process for the next allocation. Otherwise glibc returns large tensors
/// to the system, which has to find and clear their pages again at every step; this takes a third
/// of the time of a language model with a large vocabulary. The process then keeps its peak of
/// memory. Does nothing with another C library.
inline void keep_freed_memory() noexcept {
#if defined(__GLIBC__)
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

}  // namespace seqtrain::tensor
