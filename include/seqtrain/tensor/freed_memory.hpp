#pragma once

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace seqtrain::tensor {

/// Keeps memory that is freed for what is allocated next, in the whole process. Otherwise glibc
/// gives large tensors back to the system, which has to find and clear their pages anew at every
/// step: a third of the time of a language model with a large vocabulary. Memory in use stays at
/// its peak. Does nothing with another C library.
inline void keep_freed_memory() noexcept {
#if defined(__GLIBC__)
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

}  // namespace seqtrain::tensor
