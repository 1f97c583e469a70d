#pragma once

#include <ATen/Parallel.h>

#include <seqtrain/core/error.hpp>

namespace seqtrain::tensor {

/// Sets the number of threads of torch's operators on the processor, for the whole process. Results
/// are equal from run to run with the same number. Throws `InputError` if it is below 1.
inline void set_threads(int threads) {
  if (threads < 1) throw InputError{"must be at least 1", {.object = "threads"}};
  at::set_num_threads(threads);
}

[[nodiscard]] inline int threads() {
  return at::get_num_threads();
}

/// While this object exists, torch's operators run on the calling thread alone. Use it for small
/// work beside `for_each_task`: OpenMP's threads stay awake for milliseconds after each operator
/// and take cores that the tasks need.
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
