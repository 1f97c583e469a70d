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

/// While it lives, torch's operators run on the calling thread alone. For small work beside that of
/// `for_each_task`: OpenMP's threads stay awake for milliseconds after each operator and take the
/// cores that others need.
class OneThread {
 public:
  OneThread() { at::set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { at::set_num_threads(before_); }

 private:
  int before_ = threads();
};

}  // namespace seqtrain::tensor
