#pragma once

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <seqtrain/kernels/instructions.hpp>

namespace seqtrain::tests {

/// Tells whether this process may use the processor's tiles (AMX). It asks the system for them, as
/// `at::cpu::init_amx` does.
inline bool may_use_tiles() {
#if SEQTRAIN_HAS_CLONES && defined(__linux__)
  constexpr long request_permission = 0x1023, tile_data = 18;
  return kernels::instruction::has_tiles() &&
         syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

}  // namespace seqtrain::tests
