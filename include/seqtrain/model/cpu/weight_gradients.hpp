#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <seqtrain/kernels/pack.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/tensor/parallel.hpp>

namespace seqtrain::model::cpu {

/// A linear map's inputs [rows, in] and the gradients of its outputs [rows, out]. The number of
/// rows is a multiple of 32. Rows without a token are zero in both.
template <class T>
struct WeightProduct {
  const Linear<T>* linear;
  const T* input;
  const T* gradient;
  std::size_t rows;
};

/// Adds gradient^T input to the gradients of weights, and the gradients' column sums to those of
/// biases. Each element is summed over the rows in one fixed order.
template <class T>
class WeightGradients {
 public:
  void add(std::span<const WeightProduct<T>> products) {
    pack_inputs(products);
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < products.size(); ++i) {
      for (std::size_t out = 0; out < products[i].linear->out(); out += panel)
        tasks.push_back({i, out});
    }
    scratch_.resize(tensor::workers());
    tensor::for_each_task(tasks.size(), [&](std::size_t i, std::size_t worker) {
      const WeightProduct<T>& product = products[tasks[i].product];
      T* const transposed = scratch_[worker].reserve(product.rows * panel);
      multiply(product, offsets_[tasks[i].product], tasks[i].first, transposed);
    });
  }

 private:
  struct Task {
    std::size_t product;
    std::size_t first;  ///< index of the task's first row or output
  };

  /// The sizes of the blocks into which rows are divided, the largest first. They are few, because
  /// each shape of a product has a kernel of its own.
  static constexpr std::array<std::size_t, 5> block_sizes{512, 256, 128, 64, 32};

  template <class Use>
  static void for_each_block(std::size_t rows, const Use& use) {
    std::size_t row = 0;
    for (const std::size_t size : block_sizes) {
      for (; row + size <= rows; row += size) use(row, size);
    }
  }

  /// Packs the inputs. A task packs some consecutive rows.
  void pack_inputs(std::span<const WeightProduct<T>> products) {
    constexpr std::size_t rows_of_task = block_sizes.back();
    offsets_.assign(1, 0);
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < products.size(); ++i) {
      const std::size_t rows = products[i].rows;
      for (std::size_t row = 0; row < rows; row += rows_of_task) tasks.push_back({i, row});
      offsets_.push_back(offsets_.back() + rows * products[i].linear->in());
    }
    T* const packed = packed_.reserve(offsets_.back());
    tensor::for_each_task(tasks.size(), [&](std::size_t i, std::size_t) {
      const auto& [product, row] = tasks[i];
      const auto& [linear, input, gradient, rows] = products[product];
      for (std::size_t column = 0; column < linear->in(); column += panel) {
        kernels::pack_panel(input + row * linear->in() + column, linear->in(), rows_of_task, panel,
                            packed + offsets_[product] + column * rows + row * panel);
      }
    });
  }

  void multiply(const WeightProduct<T>& product, std::size_t offset, std::size_t out,
                T* transposed) const {
    const Linear<T>* const linear = product.linear;  // clang 14 captures no structured bindings
    const T* const gradient = product.gradient + out;
    const std::size_t rows = product.rows;
    auto to = linear->gradient(out);
    float without_bias[panel] = {};
    if (to.bias == nullptr) to.bias = without_bias;
    for_each_block(rows, [&](std::size_t row, std::size_t size) {
      kernels::transpose_and_sum(gradient + row * linear->out(), linear->out(), size, panel,
                                 transposed + row * panel, to.bias);
    });
    for (std::size_t column = 0; column < linear->in(); column += panel) {
      const T* const factor = packed_.data() + offset + column * rows;
      if (column + panel < linear->in()) {
        prefetch(factor + panel * rows, panel * rows);
        for (std::size_t i = 0; i < panel; ++i) {
          prefetch(to.weight + i * linear->in() + column + panel, panel);
        }
      }
      for_each_block(rows, [&](std::size_t row, std::size_t size) {
        multiply_panel(panel, size, transposed + row * panel, size, factor + row * panel,
                       to.weight + column, linear->in(), true);
      });
    }
  }

  Buffer<T> packed_;
  std::vector<std::size_t> offsets_;
  std::vector<Buffer<T>> scratch_;
};

}  // namespace seqtrain::model::cpu
