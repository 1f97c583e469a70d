#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/core/memory.hpp>
#include <seqtrain/kernels/pack.hpp>
#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/low_rank.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/parameter.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// The weights of several linear layers of the same input as packed factors of both passes, or of
/// the forward pass alone. `in` and each linear layer's outputs are multiples of `panel`.
template <class T>
class PackedWeights {
 public:
  PackedWeights(std::size_t in, std::size_t out, bool transposed, bool goes_back)
      : in_{in}, out_{out}, transposed_{transposed}, goes_back_{goes_back} {}

  /// Makes the memory. Call it before `pack`.
  void reserve() {
    forward_.reserve(in_ * out_);
    if (goes_back_) backward_.reserve(in_ * out_);
  }

  /// Packs the weights of `panel` outputs from `output` on: [panel, in], or [in, panel] if the
  /// weights are transposed. Their rows are `ld` apart.
  void pack(const float* weight, std::size_t ld, std::size_t output) {
    T* const ahead = forward_.data() + output * in_;
    if (transposed_) {
      kernels::pack_panel(weight, ld, in_, panel, ahead);
    } else {
      kernels::pack_transposed_panel(weight, ld, in_, panel, ahead);
    }
    for (std::size_t column = 0; goes_back_ && column < in_; column += panel) {
      T* const back = backward_.data() + column * out_ + output * panel;
      if (transposed_) {
        kernels::pack_transposed_panel(weight + column * ld, ld, panel, panel, back);
      } else {
        kernels::pack_panel(weight + column, ld, panel, panel, back);
      }
    }
  }

  /// Returns the factor [in, out] of the forward pass.
  [[nodiscard]] const T* forward() const { return forward_.data(); }
  /// Returns the factor [out, in] of the backward pass.
  [[nodiscard]] const T* backward() const { return backward_.data(); }

 private:
  std::size_t in_, out_;
  bool transposed_, goes_back_;
  Buffer<T> forward_, backward_;
};

/// The weights of a linear layer, or of several linear layers of the same input, packed for the
/// products of both passes, or of the forward pass alone if nothing before them learns. `in` and
/// each linear layer's `out` are multiples of `panel`. If the weights are frozen, the linear layers
/// may have adapters. All weights of an object are transposed, or none are.
template <class T>
class PackedLinear {
 public:
  /// One linear layer of those that share an input.
  struct Part {
    at::Tensor weight;           ///< [out, in], or [in, out] if `transposed`
    at::Tensor bias;             ///< [out]; undefined if the linear layer has none
    at::Tensor weight_gradient;  ///< undefined where frozen
    at::Tensor bias_gradient;    ///< undefined where frozen or without a bias
    LowRank low_rank = {};
    bool transposed = false;
    std::shared_ptr<tensor::PackedCopy> packed = nullptr;  ///< made by the constructor

    [[nodiscard]] std::size_t in() const { return size(transposed ? 0 : 1); }
    [[nodiscard]] std::size_t out() const { return size(transposed ? 1 : 0); }

   private:
    [[nodiscard]] std::size_t size(std::int64_t dimension) const {
      return static_cast<std::size_t>(weight.size(dimension));
    }
  };

  explicit PackedLinear(std::vector<Part> parts)
      : parts_{std::move(parts)},
        in_{parts_.front().in()},
        transposed_{parts_.front().transposed},
        learns_{parts_.front().weight_gradient.defined()},
        goes_back_{learns_ || parts_.front().low_rank.in_adapted} {
    for (const Part& part : parts_) {
      low_rank_.add(part.low_rank, in_, part.out());
      out_ += part.out();
    }
    bias_.resize(out_);
    packed_ = std::make_shared<PackedWeights<T>>(in_, out_, transposed_, goes_back_);
    std::size_t output = 0;
    for (Part& part : parts_) {
      part.packed = std::make_shared<tensor::PackedCopy>(tensor::PackedCopy{
          panel, [packed = packed_, weight = part.weight, ld = ld(part), output](std::size_t row) {
            packed->pack(weight.template const_data_ptr<float>() + row * ld, ld, output + row);
          }});
      output += part.out();
    }
  }

  /// Lets an optimizer pack the weights that learn: see `tensor::PackedCopy`.
  void offer_packing(std::span<tensor::Parameter> parameters) const {
    for (const Part& part : parts_) {
      if (!part.weight_gradient.defined() || transposed_) continue;
      for (tensor::Parameter& parameter : parameters) {
        if (!parameter.packed && parameter.value.is_same(part.weight)) {
          parameter.packed = part.packed;
        }
      }
    }
  }

  [[nodiscard]] std::size_t in() const { return in_; }
  [[nodiscard]] std::size_t out() const { return out_; }
  /// Returns the bias [out], which is zeros if the linear layer has none.
  [[nodiscard]] const float* bias() const { return bias_.data(); }
  [[nodiscard]] const at::Tensor& first_weight() const { return parts_.front().weight; }
  /// Tells whether the weights, and so their gradients, are [in, out].
  [[nodiscard]] bool transposed() const { return transposed_; }
  /// Tells whether the weights get gradients.
  [[nodiscard]] bool learns() const { return learns_; }
  [[nodiscard]] const LowRankMaps<T>& low_rank() const { return low_rank_; }
  [[nodiscard]] LowRankMaps<T>& low_rank() { return low_rank_; }
  [[nodiscard]] LowRankMaps<T> take_low_rank() { return std::move(low_rank_); }

  /// A panel of a factor, and the next one, which will soon be read.
  struct Panel {
    const T* numbers;
    Ahead next;
  };
  /// Returns the columns from panel * index on of the forward pass's factor [in, out].
  [[nodiscard]] Panel forward_panel(std::size_t index) const {
    return panel_of(packed_->forward(), index, in_, out_);
  }
  /// Returns the columns from panel * index on of the backward pass's factor [out, in].
  [[nodiscard]] Panel backward_panel(std::size_t index) const {
    return panel_of(packed_->backward(), index, out_, in_);
  }

  /// Returns how many changes of the weights have been counted: see `tensor::count_change`.
  [[nodiscard]] std::int64_t changes() const {
    std::int64_t sum = low_rank_.changes();
    for (const Part& part : parts_) {
      sum += tensor::changes_of(part.weight);
      if (part.bias.defined()) sum += tensor::changes_of(part.bias);
    }
    return sum;
  }

  /// Begins to pack again what a counted change has changed, or all if `always` is true. Returns
  /// the number of tasks to pass to `pack` before `end_packing`.
  [[nodiscard]] std::size_t begin_packing(bool always) {
    outputs_to_pack_.clear();
    if (changes() == packed_changes_ && !always) return 0;
    packed_changes_ = -1;  // not all is packed if packing fails
    std::size_t output = 0;
    for (const Part& part : parts_) {
      if (part.bias.defined()) {
        std::copy_n(part.bias.template const_data_ptr<float>(), part.out(), bias_.data() + output);
      }
      if (always || part.packed->changes != tensor::changes_of(part.weight)) {
        part.packed->changes = -1;
        for (std::size_t i = 0; i < part.out(); i += panel) outputs_to_pack_.push_back(output + i);
      }
      output += part.out();
    }
    if (!outputs_to_pack_.empty()) packed_->reserve();
    return outputs_to_pack_.size() + (low_rank_.width() > 0 ? 1 : 0);
  }
  void end_packing() {
    for (const Part& part : parts_) part.packed->changes = tensor::changes_of(part.weight);
    packed_changes_ = changes();
  }

  /// Frees the weights, which are packed. Only adapters can be packed again.
  void forget_weights() {
    parts_.clear();
    end_packing();
  }

  /// Packs the weights of `panel` outputs or, as the last task, the adapters.
  void pack(std::size_t task) {
    if (task == outputs_to_pack_.size()) return low_rank_.pack();
    const std::size_t output = outputs_to_pack_[task];
    const Rows rows = weights(output);
    packed_->pack(rows.weight, rows.ld, output);
  }

  /// The weights of `panel` outputs, or their gradients.
  struct Rows {
    float* weight;   ///< [panel, in], or [in, panel] if `transposed()`
    float* bias;     ///< [panel], or null if the linear layer has none
    std::size_t ld;  ///< numbers from one row of the weights to the next
  };
  /// Returns the weights of the outputs from `output` on.
  [[nodiscard]] Rows weights(std::size_t output) const {
    return rows(output, &Part::weight, &Part::bias);
  }
  /// Returns the gradients of the weights of the outputs from `output` on.
  [[nodiscard]] Rows gradient(std::size_t output) const {
    return rows(output, &Part::weight_gradient, &Part::bias_gradient);
  }

 private:
  /// Returns the numbers from one row of a part's weights to the next.
  [[nodiscard]] std::size_t ld(const Part& part) const { return transposed_ ? part.out() : in_; }

  [[nodiscard]] Rows rows(std::size_t output, at::Tensor Part::*weight,
                          at::Tensor Part::*bias) const {
    auto part = parts_.begin();
    while (output >= part->out()) output -= (part++)->out();
    const at::Tensor& of_bias = (*part).*bias;
    return {((*part).*weight).template mutable_data_ptr<float>() +
                (transposed_ ? output : output * in_),
            of_bias.defined() ? of_bias.template mutable_data_ptr<float>() + output : nullptr,
            ld(*part)};
  }

  /// Returns a panel of a packed factor [k, n].
  static Panel panel_of(const T* factor, std::size_t index, std::size_t k, std::size_t n) {
    const T* const numbers = factor + index * panel * k;
    const bool is_last = (index + 1) * panel == n;
    return {numbers, is_last ? Ahead{} : Ahead::of(numbers + panel * k, panel * k)};
  }

  std::vector<Part> parts_;
  std::size_t in_;
  std::size_t out_ = 0;
  bool transposed_;
  bool learns_;
  bool goes_back_;  // a backward pass goes through the linear layer
  LowRankMaps<T> low_rank_;
  std::int64_t packed_changes_ = -1;  // changes that all that is packed includes
  std::vector<std::size_t> outputs_to_pack_;
  std::shared_ptr<PackedWeights<T>> packed_;
  std::vector<float> bias_;
};

/// Packs the weights of linear layers whose changes have been counted, see
/// `PackedLinear::begin_packing`.
template <class Map>
void pack_weights(std::span<Map* const> maps, bool always) {
  std::vector<std::pair<Map*, std::size_t>> panels;
  for (Map* const map : maps) {
    const std::size_t count = map->begin_packing(always);
    for (std::size_t i = 0; i < count; ++i) panels.emplace_back(map, i);
  }
  tensor::for_each_task(
      panels.size(), [&](std::size_t i, std::size_t) { panels[i].first->pack(panels[i].second); });
  for (Map* const map : maps) map->end_packing();
}

/// Packs the weights of linear layers for the last time and frees them, one layer after another, so
/// that there is never memory for all of both.
template <class Map>
void keep_packed_only(std::span<Map* const> maps) {
  for (Map* const& map : maps) {
    pack_weights(std::span<Map* const>{&map, 1}, false);
    map->forget_weights();
    return_freed_memory();
  }
}

/// Columns of the result of a linear layer. Both numbers are multiples of `panel`.
struct Columns {
  std::size_t first;
  std::size_t end;
};

/// Scratch memory for panels of a product, [2, rows, panel]: that of one thread, or of each if all
/// threads share the panels; none if a product writes to its place.
struct PanelBlocks {
  std::span<float* const> of_threads;

  /// Calls use(index, block) for each index below the count. If the threads share the panels, it
  /// must not be called in a task.
  template <class Use>
  void each(std::size_t count, const Use& use) const {
    if (of_threads.size() > 1) {
      return tensor::for_each_task(
          count, [&](std::size_t index, std::size_t worker) { use(index, of_threads[worker]); });
    }
    float* const block = of_threads.empty() ? nullptr : of_threads[0];
    for (std::size_t index = 0; index < count; ++index) use(index, block);
  }
};

/// A product of rows with the weights of a linear layer, some columns at a time: x Wᵀ in the
/// forward pass and, given the gradient of x Wᵀ, that of x in the backward pass. Adapters are
/// included.
template <class T>
class Product {
 public:
  /// `x` is [rows, in], or [rows, out] in the backward pass.
  Product(Pass pass, const PackedLinear<T>& linear, const T* x, std::size_t rows,
          ReducedRows<T>& memory)
      : pass_{pass}, linear_{&linear}, x_{x}, rows_{rows}, memory_{&memory} {
    const std::size_t numbers = rows * linear.low_rank().width();
    if (numbers == 0) return;
    reduced_ = memory.rows.reserve(numbers);
    linear.low_rank().reduce(pass, x, rows, memory.sums.reserve(numbers), reduced_, memory);
  }

  /// Writes `panel` columns from `column` on to rows that are `ld` apart.
  void operator()(std::size_t column, float* to, std::size_t ld) const {
    const bool ahead = pass_ == Pass::forward;
    const std::size_t depth = ahead ? linear_->in() : linear_->out();
    const auto [factor, next] =
        ahead ? linear_->forward_panel(column / panel) : linear_->backward_panel(column / panel);
    multiply_panel(rows_, depth, x_, depth, factor, to, ld, false, panel, next);
    if (reduced_ == nullptr) return;
    linear_->low_rank().expand(pass_, reduced_, rows_, column, to, ld, *memory_);
  }

  /// Writes all columns.
  void operator()(const PanelBlocks& blocks, float* to) const {
    const std::size_t columns = columns_of_all();
    blocks.each(columns / panel, [&](std::size_t index, float*) {
      (*this)(index * panel, to + index * panel, columns);
    });
  }

  /// Calls use(column, block) with [rows, panel] of the product, whose rows are `panel` apart.
  template <class Use>
  void each(const PanelBlocks& blocks, const Use& use,
            Columns columns = {0, ~std::size_t{0}}) const {
    const std::size_t end = std::min(columns.end, columns_of_all());
    blocks.each((end - columns.first) / panel, [&](std::size_t index, float* block) {
      const std::size_t column = columns.first + index * panel;
      (*this)(column, block, panel);
      use(column, block);
    });
  }

 private:
  [[nodiscard]] std::size_t columns_of_all() const {
    return pass_ == Pass::forward ? linear_->out() : linear_->in();
  }

  Pass pass_;
  const PackedLinear<T>* linear_;
  const T* x_;
  std::size_t rows_;
  ReducedRows<T>* memory_;
  T* reduced_ = nullptr;
};

/// Returns how many changes of these linear layers have been counted.
template <class T>
[[nodiscard]] std::int64_t changes_of(std::span<PackedLinear<T>* const> linears) {
  std::int64_t sum = 0;
  for (const PackedLinear<T>* const linear : linears) sum += linear->changes();
  return sum;
}

}  // namespace seqtrain::model::cpu
