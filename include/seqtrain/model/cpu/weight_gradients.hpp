#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/pack.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/low_rank.hpp>
#include <seqtrain/model/cpu/norm_tensors.hpp>
#include <seqtrain/model/cpu/packed_factor.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// Sums over rows for the gradients of several norms. Each task has a set of its own. The sets are
/// added in the order of the tasks, so the bits do not depend on which thread did what.
class NormGradients {
 public:
  /// Sets so many sets of sums to zero.
  void reserve(std::size_t sets, std::size_t norms, std::size_t hidden) {
    sets_ = sets;
    norms_ = norms;
    hidden_ = hidden;
    const std::size_t count = sets * norms * 2 * hidden;
    std::fill_n(sums_.reserve(count), count, 0.0F);
  }

  /// Returns a set's sums for the scale of a norm.
  [[nodiscard]] float* gamma(std::size_t set, std::size_t norm) const {
    return sums_.data() + (set * norms_ + norm) * 2 * hidden_;
  }
  /// Returns a set's sums for the bias of a norm.
  [[nodiscard]] float* beta(std::size_t set, std::size_t norm) const {
    return gamma(set, norm) + hidden_;
  }

  /// Adds `count` of the sums of a norm, from `first` on, to a gradient [count], if there is one.
  /// Those for its bias come after those for its scale.
  void add_to(const at::Tensor& gradient, std::size_t norm, std::size_t first,
              std::size_t count) const {
    if (!gradient.defined()) return;
    auto* const to = gradient.mutable_data_ptr<float>();
    for (std::size_t set = 0; set < sets_; ++set) {
      const float* const sums = gamma(set, norm) + first;
      for (std::size_t i = 0; i < count; ++i) to[i] += sums[i];
    }
  }

  /// Adds the sums of a norm to its gradients, if it learns.
  void add_to(const NormTensors& tensors, std::size_t norm) const {
    add_to(tensors.d_gamma, norm, 0, hidden_);
    add_to(tensors.d_beta, norm, hidden_, hidden_);
  }

 private:
  Buffer<float> sums_;
  std::size_t sets_ = 0;
  std::size_t norms_ = 0;
  std::size_t hidden_ = 0;
};

/// A linear layer's inputs [rows, in] and the gradients of its outputs [rows, out]. The number of
/// rows is a multiple of 32. Rows without a token are zero in both.
template <class T>
struct WeightProduct {
  const PackedLinear<T>* linear;
  const T* input;
  const T* gradient;
  std::size_t rows;
  std::uint64_t site = 0;  ///< the site of the dropout of adapters' inputs
};

/// Computes the gradients of adapters: that of B is d_yᵀ (s x Aᵀ), and that of A is (s d_y B)ᵀ x,
/// where x is the input after dropout. Each element is summed over the rows in one fixed order.
template <class T>
class LowRankGradients {
 public:
  /// Adds to the gradients of a linear layer's adapters.
  void add(const WeightProduct<T>& product) {
    const PackedLinear<T>& linear = *product.linear;
    if (linear.low_rank().width() == 0) return;
    scratch_.resize(tensor::workers());
    memory_.resize(tensor::workers());
    reduce(product);
    const std::size_t inputs = linear.in() / panel;
    tensor::for_each_task(inputs + linear.out() / panel, [&](std::size_t i, std::size_t worker) {
      const bool of_a = i < inputs;
      const std::size_t column = (of_a ? i : i - inputs) * panel;
      const T* const from = (of_a ? product.input : product.gradient) + column;
      const std::size_t ld = of_a ? linear.in() : linear.out();
      T* const transposed = scratch_[worker].reserve(product.rows * panel);
      float unused[panel] = {};
      const PackedInputs<T>& other = of_a ? gradients_ : inputs_;
      other.transpose(from, ld, transposed, unused);
      for (const Map& map : linear.low_rank().maps()) {
        if (const auto dropout = map.dropout(of_a ? product.site : 0)) {
          T* const dropped = memory_[worker].dropped.reserve(product.rows * panel);
          kernels::drop(from, ld, *dropout, column, ld, dropped, panel, product.rows, panel);
          other.transpose(dropped, panel, transposed, unused);
        }
        add(map, of_a ? Pass::forward : Pass::backward, column, transposed, other);
      }
    });
  }

 private:
  using Map = typename LowRankMaps<T>::Map;

  /// Reduces inputs and gradients to the adapters' ranks. A task takes some rows.
  void reduce(const WeightProduct<T>& product) {
    const PackedLinear<T>& linear = *product.linear;
    const std::size_t rows = product.rows;
    const LowRankMaps<T>& low = linear.low_rank();
    const std::size_t width = low.width();
    T* const inputs = reduced_.reserve(2 * rows * width);
    T* const gradients = inputs + rows * width;
    float* const sums = sums_.reserve(rows * width);
    constexpr std::size_t unit = 4 * Layout::matrix_unit;
    tensor::for_each_task((rows + unit - 1) / unit, [&](std::size_t task, std::size_t worker) {
      const std::size_t row = task * unit;
      const std::size_t count = std::min(unit, rows - row);
      const std::size_t at = row * width;
      ReducedRows<T>& memory = memory_[worker];
      memory.drop_at(product.site, row);
      const auto reduce = [&](Pass pass, const T* from, T* to) {
        low.reduce(pass, from, count, sums + at, to + at, memory);
      };
      reduce(Pass::forward, product.input + row * linear.in(), inputs);
      reduce(Pass::backward, product.gradient + row * linear.out(), gradients);
    });
    inputs_.pack(inputs, width, rows, width);
    gradients_.pack(gradients, width, rows, width);
  }

  /// Adds to the gradient of A for `panel` inputs, or of B for `panel` outputs, from `column` on.
  static void add(const Map& map, Pass pass, std::size_t column, const T* transposed,
                  const PackedInputs<T>& other) {
    const auto& side = map.side(pass);
    if (!side.has(column)) return;
    const bool of_a = pass == Pass::forward;
    const std::size_t of_rank = of_a ? side.size : 1;
    const std::size_t of_column = of_a ? 1 : map.rank;
    auto* const to = (of_a ? map.low.a : map.low.b).grad().template mutable_data_ptr<float>() +
                     (column - side.begin) * of_column;
    float tile[panel * panel];
    for (std::size_t rank = 0, count = 0; rank < map.rank; rank += count) {
      const std::size_t first = (map.first + rank) % panel;
      count = std::min(map.rank - rank, panel - first);
      other.multiply(transposed, (map.first + rank) / panel, tile);
      for (std::size_t i = 0; i < panel; ++i) {
        float* const row = to + rank * of_rank + i * of_column;
        for (std::size_t r = 0; r < count; ++r) row[r * of_rank] += tile[i * panel + first + r];
      }
    }
  }

  Buffer<T> reduced_;
  Buffer<float> sums_;
  PackedInputs<T> inputs_, gradients_;
  std::vector<Buffer<T>> scratch_;
  std::vector<ReducedRows<T>> memory_;  // for each worker
};

/// Adds gradient^T input to the gradients of weights, or its transpose if the weights are
/// transposed, and the gradients' column sums to those of biases, if they learn; and adds to the
/// gradients of adapters. Each element is summed over the rows in one fixed order.
template <class T>
class WeightGradients {
 public:
  void add(std::span<const WeightProduct<T>> all) {
    std::vector<WeightProduct<T>> products;
    for (const WeightProduct<T>& product : all) {
      if (product.linear->learns()) products.push_back(product);
      low_rank_.add(product);
    }
    if (products.empty()) return;
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
      const auto& [linear, input, gradient, rows, site] = products[product];
      fetch_unless_tiles<T>(Ahead::of(input + row * linear->in(), rows_of_task * linear->in()));
      for (std::size_t column = 0; column < linear->in(); column += panel) {
        kernels::pack_panel(input + row * linear->in() + column, linear->in(), rows_of_task, panel,
                            packed + offsets_[product] + column * rows + row * panel);
      }
    });
  }

  void multiply(const WeightProduct<T>& product, std::size_t offset, std::size_t out,
                T* transposed) const {
    const PackedLinear<T>* const linear =
        product.linear;  // clang 14 captures no structured bindings
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
      const bool is_last = column + panel == linear->in();
      if (!is_last) fetch_unless_tiles<T>(Ahead::of(factor + panel * rows, panel * rows));
      if (linear->transposed()) {
        add_transposed(transposed, factor, rows, to.weight + column * to.ld, to.ld);
        continue;
      }
      const Ahead next =
          is_last ? Ahead{} : Ahead::of(to.weight + column + panel, panel, panel, to.ld);
      for_each_block(rows, [&](std::size_t row, std::size_t size) {
        multiply_panel(panel, size, transposed + row * panel, size, factor + row * panel,
                       to.weight + column, to.ld, true, panel, row == 0 ? next : Ahead{});
      });
    }
  }

  /// Adds the transpose of a product [panel, panel] of a panel of gradients and one of inputs.
  static void add_transposed(const T* gradients, const T* inputs, std::size_t rows, float* to,
                             std::size_t ld) {
    float product[panel * panel], turned[panel * panel];
    for_each_block(rows, [&](std::size_t row, std::size_t size) {
      multiply_panel(panel, size, gradients + row * panel, size, inputs + row * panel, product,
                     panel, row > 0);
    });
    kernels::pack_transposed_panel(product, panel, panel, panel, turned);
    kernels::add(turned, panel, to, ld, panel, panel);
  }

  Buffer<T> packed_;
  std::vector<std::size_t> offsets_;
  std::vector<Buffer<T>> scratch_;
  LowRankGradients<T> low_rank_;
};

}  // namespace seqtrain::model::cpu
