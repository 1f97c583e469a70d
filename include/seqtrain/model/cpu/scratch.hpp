#pragma once

#include <cstddef>
#include <vector>

#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/low_rank.hpp>

namespace seqtrain::model::cpu {

/// A thread's scratch memory for one layer.
template <class T>
struct Scratch {
  float* wide;       ///< [rows, hidden]
  float* block;      ///< [rows, panel]
  T* gradient;       ///< [rows, hidden]
  float* attention;  ///< as kernels/attention.hpp asks for
  ReducedRows<T>* reduced;
};

/// Owns the scratch memory of several threads.
template <class T>
class ScratchMemory {
 public:
  void reserve(std::size_t workers, std::size_t rows, std::size_t hidden, std::size_t attention) {
    rows_ = rows;
    hidden_ = hidden;
    threads_.resize(workers);
    for (auto& thread : threads_) {
      thread.floats.reserve(rows * (hidden + panel) + attention);
      thread.gradient.reserve(rows * hidden);
    }
  }

  [[nodiscard]] Scratch<T> of(std::size_t worker) const {
    float* const floats = threads_[worker].floats.data();
    float* const block = floats + rows_ * hidden_;
    return {.wide = floats,
            .block = block,
            .gradient = threads_[worker].gradient.data(),
            .attention = block + rows_ * panel,
            .reduced = &threads_[worker].reduced};
  }

 private:
  struct Thread {
    Buffer<float> floats;
    Buffer<T> gradient;
    mutable ReducedRows<T> reduced;
  };

  std::size_t rows_ = 0;
  std::size_t hidden_ = 0;
  std::vector<Thread> threads_;
};

}  // namespace seqtrain::model::cpu
