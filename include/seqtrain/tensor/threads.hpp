#pragma once

#include <ATen/Parallel.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::tensor {

/// How many threads the operators on the processor use from now on, in the whole process. Results
/// are equal from run to run at the same number. Throws `InputError` below 1.
inline void set_threads(int threads) {
  if (threads < 1) throw InputError{"must be at least 1", {.object = "threads"}};
  at::set_num_threads(threads);
}

[[nodiscard]] inline int threads() {
  return at::get_num_threads();
}

}  // namespace seqtrain::tensor
