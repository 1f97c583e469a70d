#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/rows.hpp>
#include <seqtrain/model/cpu/weight_gradients.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// The first tokens of a batch after the last layer's attention: a row for each sequence. Nothing
/// else of that layer is computed. Threads share the rows in blocks.
template <class T>
class FirstTokens {
 public:
  /// Makes room for `count` first tokens; with `keep` also for a backward pass.
  void reserve(std::size_t count, const LayerShape& shape, bool keep) {
    count_ = count;
    shape_ = shape;
    rows_ = round_up(count, Layout::matrix_unit);
    const std::size_t numbers = rows_ * shape.hidden;
    matrices_ = memory_.reserve(rows_, shape, keep);
    std::fill_n(matrices_.context, rows_ * shape.context, T{});
    std::fill_n(x_.reserve(numbers), numbers, 0.0F);
    if (keep) d_context_.reserve(rows_ * shape.context);
  }

  /// Returns the number of rows, which is a multiple of 32.
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] const LayerRows<T>& matrices() const { return matrices_; }

  /// Returns the result of a sequence's attention, to be filled.
  [[nodiscard]] T* context(std::size_t sequence) const {
    return matrices_.context + sequence * shape_.context;
  }
  /// Returns the gradient of `context`.
  [[nodiscard]] const T* d_context(std::size_t sequence) const {
    return d_context_.data() + sequence * shape_.context;
  }
  /// Returns a sequence's residual, to be filled before `finish`. After `finish_backward` it is the
  /// residual's gradient.
  [[nodiscard]] float* x(std::size_t sequence) const {
    return x_.data() + sequence * shape_.hidden;
  }

  /// Computes the layer's `finish`, and writes the result [sequences, hidden].
  void finish(const Layer<T>& layer, const LayerDropout& dropout, const ScratchMemory<T>& scratch,
              float* result) const {
    for_each_block(scratch, [&](std::size_t row, std::size_t, const Scratch<T>& of_thread) {
      const auto rows = matrices_.from(row, shape_);
      layer.finish(rows, block(), dropout, index_of(row), x(row), rows.input, of_thread);
      std::copy_n(layer.pre_norm ? of_thread.wide : x(row), numbers_of_block(row),
                  result + std::min(row, count_) * shape_.hidden);
    });
  }

  /// Computes the layer's `finish_backward`, given the gradient of the result.
  void finish_backward(const Layer<T>& layer, const LayerDropout& dropout,
                       const ScratchMemory<T>& scratch, const float* d_result) {
    norms_.reserve(rows_ / block(), layer.norms().size(), shape_.hidden);
    for_each_block(scratch, [&](std::size_t row, std::size_t task, const Scratch<T>& of_thread) {
      float* const gradient = x(row);
      float* const d_state = layer.pre_norm ? of_thread.wide : gradient;
      std::fill_n(gradient, block() * shape_.hidden, 0.0F);
      std::fill_n(d_state, block() * shape_.hidden, 0.0F);
      std::copy_n(d_result + std::min(row, count_) * shape_.hidden, numbers_of_block(row), d_state);
      const auto sums = [&](std::size_t norm, const auto& use) {
        use(0, block(), norms_.gamma(task, norm), norms_.beta(task, norm));
      };
      layer.finish_backward(matrices_.from(row, shape_), block(), dropout, index_of(row), gradient,
                            d_context_.data() + row * shape_.context, sums, of_thread);
    });
  }

  /// Adds to the gradients of the layer's norms.
  void add_norm_gradients(const Layer<T>& layer) const {
    const auto norms = layer.norms();
    for (std::size_t i = 0; i < norms.size(); ++i) norms_.add_to(*norms[i], i);
  }

 private:
  static std::size_t block() { return rows_at_once<T>(); }

  /// Returns the number of floats of the sequences in the block from `row` on.
  [[nodiscard]] std::size_t numbers_of_block(std::size_t row) const {
    return row < count_ ? std::min(block(), count_ - row) * shape_.hidden : 0;
  }

  [[nodiscard]] std::uint32_t index_of(std::size_t row) const {
    return static_cast<std::uint32_t>(row * shape_.hidden);
  }

  /// Calls use(first row, index, scratch) for each block of rows.
  template <class Use>
  void for_each_block(const ScratchMemory<T>& scratch, const Use& use) const {
    tensor::for_each_task(rows_ / block(), [&](std::size_t task, std::size_t worker) {
      use(task * block(), task, scratch.of(worker));
    });
  }

  std::size_t count_ = 0;
  std::size_t rows_ = 0;
  LayerShape shape_{};
  LayerMemory<T> memory_;
  LayerRows<T> matrices_{};
  Buffer<float> x_;
  Buffer<T> d_context_;
  NormGradients norms_;
};

}  // namespace seqtrain::model::cpu
