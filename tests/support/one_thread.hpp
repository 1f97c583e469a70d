#pragma once

#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::tests {

/// Operators run on one thread while this object exists. On tensors of a few numbers more threads
/// would only wait for each other, especially if tests run at the same time.
class OneThread {
 public:
  OneThread() { tensor::set_threads(1); }
  ~OneThread() { tensor::set_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = tensor::threads();
};

}  // namespace seqtrain::tests
