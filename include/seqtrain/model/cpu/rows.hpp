#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/low_rank.hpp>

namespace seqtrain::model::cpu {

/// The numbers of columns of a layer's matrices.
struct LayerShape {
  std::size_t hidden;
  std::size_t inner;  ///< columns of the feed-forward network's activations
  std::size_t
      factors;  ///< outputs of the intermediate linear layer: `inner`, or twice `inner` with gates
  std::size_t context;  ///< columns of all heads' results
  std::size_t qkv;      ///< columns of queries, keys and values
  std::size_t results;  ///< columns of `LayerRows::result1` and `result2`
  std::size_t raw;      ///< columns of `LayerRows::raw`

  /// Returns the number of columns that scratch memory has for either.
  [[nodiscard]] std::size_t widest() const { return std::max(hidden, context); }
};

/// The matrices that one layer keeps of its tokens, row-major. The forward pass fills the matrices.
/// The backward pass overwrites some of them with gradients, which the weights' gradients read.
/// Matrices that only a backward pass reads are null in an evaluation.
template <class T>
struct LayerRows {
  T* input;    ///< [rows, hidden]
  T* qkv;      ///< [rows, qkv], queries, keys and values; then their gradient
  T* context;  ///< [rows, context], the result of attention
  T* normal1;  ///< [rows, hidden], normalized; then the gradient of attention's output linear layer
  T* middle;   ///< [rows, hidden], the input of the feed-forward network
  T* factors;  ///< [rows, factors], the activations' slopes; then the gradient of their argument
  T* active;   ///< [rows, inner]
  T* normal2;  ///< [rows, hidden], normalized; then the gradient of the network's output linear
               ///< layer
  T* result1;  ///< [rows, results], normalized, if what attention adds has a norm
  T* result2;  ///< [rows, results], normalized, if what the network adds has one
  T* raw;      ///< [rows, raw], queries and keys before norms of all heads
  float* inverse1;         ///< [rows], inverse standard deviations
  float* inverse2;         ///< [rows]
  float* result_inverse1;  ///< [rows]
  float* result_inverse2;  ///< [rows]

  /// Returns the matrices from `row` on.
  [[nodiscard]] LayerRows from(std::size_t row, const LayerShape& shape) const {
    const auto kept = [&](auto* rows, std::size_t width) {
      return rows == nullptr ? rows : rows + row * width;
    };
    const std::size_t hidden = shape.hidden;
    return {.input = input + row * hidden,
            .qkv = qkv + row * shape.qkv,
            .context = context + row * shape.context,
            .normal1 = kept(normal1, hidden),
            .middle = middle + row * hidden,
            .factors = kept(factors, shape.factors),
            .active = active + row * shape.inner,
            .normal2 = kept(normal2, hidden),
            .result1 = kept(result1, shape.results),
            .result2 = kept(result2, shape.results),
            .raw = kept(raw, shape.raw),
            .inverse1 = kept(inverse1, 1),
            .inverse2 = kept(inverse2, 1),
            .result_inverse1 = kept(result_inverse1, 1),
            .result_inverse2 = kept(result_inverse2, 1)};
  }
};

/// Memory for the rows of a layer.
template <class T>
class LayerMemory {
 public:
  /// Returns memory for `rows` rows. Without `keep`, the matrices that only a backward pass reads
  /// are null.
  LayerRows<T> reserve(std::size_t rows, const LayerShape& shape, bool keep) {
    const auto [hidden, inner, factors, context, qkv, results, raw] = shape;
    const std::size_t all = 2 * hidden + inner + context + qkv;
    T* next = memory_.reserve(rows * (keep ? all + 2 * (hidden + results) + factors + raw : all));
    const auto take = [&](std::size_t width) {
      T* const taken = next;
      next += rows * width;
      return taken;
    };
    const auto take_kept = [&](std::size_t width) { return keep ? take(width) : nullptr; };
    float* const inverse = keep ? inverse_.reserve(4 * rows) : nullptr;
    const auto inverse_of = [&](std::size_t norm) {
      return keep ? inverse + norm * rows : nullptr;
    };
    return {.input = take(hidden),
            .qkv = take(qkv),
            .context = take(context),
            .normal1 = take_kept(hidden),
            .middle = take(hidden),
            .factors = take_kept(factors),
            .active = take(inner),
            .normal2 = take_kept(hidden),
            .result1 = take_kept(results),
            .result2 = take_kept(results),
            .raw = take_kept(raw),
            .inverse1 = inverse,
            .inverse2 = inverse_of(1),
            .result_inverse1 = inverse_of(2),
            .result_inverse2 = inverse_of(3)};
  }

 private:
  Buffer<T> memory_;
  Buffer<float> inverse_;
};

/// A thread's scratch memory for one layer.
template <class T>
struct Scratch {
  float* wide;  ///< [rows, hidden]
  PanelBlocks blocks;
  T* gradient;       ///< [rows, widest], see `LayerShape::widest`
  float* attention;  ///< as kernels/attention.hpp asks for
  T* heads;          ///< queries, keys and values of heads with norms, see `Layer::normalized`
  ReducedRows<T>* reduced;
};

/// Owns the scratch memory of several threads.
template <class T>
class ScratchMemory {
 public:
  /// Makes room for so many threads, rows and numbers.
  void reserve(std::size_t workers, std::size_t rows, const LayerShape& shape,
               std::size_t attention, std::size_t heads) {
    rows_ = rows;
    hidden_ = shape.hidden;
    threads_.resize(workers);
    blocks_.clear();
    for (auto& thread : threads_) {
      float* const floats = thread.floats.reserve(rows * (hidden_ + 2 * panel) + attention);
      blocks_.push_back(floats + rows * hidden_);
      thread.gradient.reserve(rows * shape.widest());
      thread.heads.reserve(heads);
    }
  }

  /// Returns the memory of one thread.
  [[nodiscard]] Scratch<T> of(std::size_t worker) const {
    return {.wide = threads_[worker].floats.data(),
            .blocks = {{&blocks_[worker], 1}},
            .gradient = threads_[worker].gradient.data(),
            .attention = blocks_[worker] + 2 * rows_ * panel,
            .heads = threads_[worker].heads.data(),
            .reduced = &threads_[worker].reduced};
  }

  /// Returns the memory of one thread, with which all threads share the panels of products.
  [[nodiscard]] Scratch<T> shared(std::size_t worker) const {
    Scratch<T> scratch = of(worker);
    scratch.blocks = {blocks_};
    return scratch;
  }

 private:
  struct Thread {
    Buffer<float> floats;
    Buffer<T> gradient;
    Buffer<T> heads;
    mutable ReducedRows<T> reduced;
  };

  std::size_t rows_ = 0;
  std::size_t hidden_ = 0;
  std::vector<Thread> threads_;
  std::vector<float*> blocks_;  // of each thread
};

}  // namespace seqtrain::model::cpu
