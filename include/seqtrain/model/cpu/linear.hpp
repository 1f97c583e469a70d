#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/kernels/pack.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/tensor/parallel.hpp>
#include <seqtrain/tensor/parameter.hpp>

namespace seqtrain::model::cpu {

/// Memory that can grow, aligned for the widest registers. Its content is lost when it grows.
template <class T>
class Buffer {
 public:
  T* reserve(std::size_t count) {
    if (count > capacity_) {
      memory_.reset();
      capacity_ = 0;  // the next line may throw
      memory_.reset(static_cast<T*>(::operator new(count * sizeof(T), alignment)));
      capacity_ = count;
    }
    return memory_.get();
  }
  [[nodiscard]] T* data() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Release {
    void operator()(T* memory) const { ::operator delete(memory, alignment); }
  };
  std::unique_ptr<T, Release> memory_;
  std::size_t capacity_ = 0;
};

/// The weights of a linear map, or of several maps of the same input, packed for the products of
/// both passes, or of the forward pass alone if they are frozen. `in` and each map's `out` are
/// multiples of `panel`.
template <class T>
class Linear {
 public:
  struct Part {
    at::Tensor weight;           ///< [out, in]
    at::Tensor bias;             ///< [out]; undefined if the map has none
    at::Tensor weight_gradient;  ///< undefined where frozen
    at::Tensor bias_gradient;    ///< undefined where frozen or without a bias
  };

  explicit Linear(std::vector<Part> parts) : parts_{std::move(parts)} {
    in_ = static_cast<std::size_t>(parts_.front().weight.size(1));
    for (const Part& part : parts_) out_ += static_cast<std::size_t>(part.weight.size(0));
  }

  [[nodiscard]] std::size_t in() const { return in_; }
  [[nodiscard]] std::size_t out() const { return out_; }
  /// Returns the bias [out], which is zeros if the map has none.
  [[nodiscard]] const float* bias() const { return bias_.data(); }
  [[nodiscard]] const at::Tensor& first_weight() const { return parts_.front().weight; }

  /// Returns the columns from panel * index on of the forward pass's factor [in, out]. Begins to
  /// fetch the next panel.
  [[nodiscard]] const T* forward_panel(std::size_t index) const {
    return panel_of(forward_.data(), index, in_, out_);
  }
  /// Returns the columns from panel * index on of the backward pass's factor [out, in].
  [[nodiscard]] const T* backward_panel(std::size_t index) const {
    return panel_of(backward_.data(), index, out_, in_);
  }

  /// Returns how many changes of the weights have been counted: see `tensor::count_change`.
  [[nodiscard]] std::int64_t changes() const {
    std::int64_t sum = 0;
    for (const Part& part : parts_) {
      sum += tensor::changes_of(part.weight);
      if (part.bias.defined()) sum += tensor::changes_of(part.bias);
    }
    return sum;
  }

  /// Begins to pack the weights again if a change of them has been counted or `always` is true.
  /// Returns the number of panels of outputs to pass to `pack` before `end_packing`: none or all.
  [[nodiscard]] std::size_t begin_packing(bool always) {
    if (changes() == packed_changes_ && !always) return 0;
    packed_changes_ = -1;  // nothing is packed if packing fails
    forward_.reserve(in_ * out_);
    if (learns()) backward_.reserve(in_ * out_);
    bias_.resize(out_);
    return out_ / panel;
  }
  void end_packing() { packed_changes_ = changes(); }

  /// Lets go of the weights, which are packed. They cannot be packed again.
  void forget_weights() {
    parts_.clear();
    end_packing();
  }

  void pack(std::size_t index) {
    const std::size_t output = index * panel;
    const auto [weight, bias] = weights(output);
    kernels::pack_transposed_panel(weight, in_, in_, panel, forward_.data() + output * in_);
    for (std::size_t column = 0; learns() && column < in_; column += panel) {
      kernels::pack_panel(weight + column, in_, panel, panel,
                          backward_.data() + column * out_ + output * panel);
    }
    if (bias != nullptr) std::copy_n(bias, panel, bias_.data() + output);
  }

  /// The weights of `panel` outputs.
  struct WeightRows {
    const float* weight;  ///< [panel, in]
    const float* bias;    ///< [panel], or null if the map has none
  };
  /// Returns the weights of the outputs from `output` on.
  [[nodiscard]] WeightRows weights(std::size_t output) const {
    const auto [part, row] = place(output);
    return {part->weight.template const_data_ptr<float>() + row * in_,
            part->bias.defined() ? part->bias.template const_data_ptr<float>() + row : nullptr};
  }

  /// The gradients of the weights of `panel` outputs.
  struct GradientRows {
    float* weight;  ///< [panel, in]
    float* bias;    ///< [panel], or null if the map has none
  };
  /// Returns the gradients of the weights of the outputs from `output` on.
  [[nodiscard]] GradientRows gradient(std::size_t output) const {
    const auto [part, row] = place(output);
    return {part->weight_gradient.template mutable_data_ptr<float>() + row * in_,
            part->bias.defined() ? part->bias_gradient.template mutable_data_ptr<float>() + row
                                 : nullptr};
  }

 private:
  struct Place {
    const Part* part;
    std::size_t row;
  };

  [[nodiscard]] bool learns() const { return parts_.front().weight_gradient.defined(); }

  /// Returns the map that has an output, and the row of its weight.
  [[nodiscard]] Place place(std::size_t output) const {
    auto part = parts_.begin();
    while (output >= static_cast<std::size_t>(part->weight.size(0))) {
      output -= static_cast<std::size_t>((part++)->weight.size(0));
    }
    return {&*part, output};
  }

  /// Returns a panel of a packed factor [k, n].
  static const T* panel_of(const T* factor, std::size_t index, std::size_t k, std::size_t n) {
    const T* const wanted = factor + index * panel * k;
    if ((index + 1) * panel < n) prefetch(wanted + panel * k, panel * k);
    return wanted;
  }

  std::vector<Part> parts_;
  std::size_t in_ = 0;
  std::size_t out_ = 0;
  std::int64_t packed_changes_ = -1;  // changes that the packed weights include
  Buffer<T> forward_;
  Buffer<T> backward_;
  std::vector<float> bias_;
};

/// Packs the weights of maps whose changes have been counted, see `Linear::begin_packing`.
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

/// Packs the weights of maps for the last time and lets go of them, one map after another.
template <class Map>
void keep_packed_only(std::span<Map* const> maps) {
  for (Map* const& map : maps) {
    pack_weights(std::span<Map* const>{&map, 1}, false);
    map->forget_weights();
  }
}

/// Columns of the result of a linear map. Both numbers are multiples of `panel`.
struct Columns {
  std::size_t first;
  std::size_t end;
};

/// Computes y = x W^T one panel at a time. Calls use(column, block) with [rows, panel] of y, whose
/// rows are `panel` apart. Rows of x are `ld` apart.
template <class T, class Use>
void forward(const Linear<T>& linear, const T* x, std::size_t ld, std::size_t rows, float* block,
             Columns columns, const Use& use) {
  for (std::size_t column = columns.first; column < columns.end; column += panel) {
    multiply_panel(rows, linear.in(), x, ld, linear.forward_panel(column / panel), block, panel,
                   false);
    use(column, block);
  }
}

template <class T, class Use>
void forward(const Linear<T>& linear, const T* x, std::size_t ld, std::size_t rows, float* block,
             const Use& use) {
  forward(linear, x, ld, rows, block, {0, linear.out()}, use);
}

/// Computes the gradient of x, given that of y in `gradient` [rows, out], one panel at a time.
/// Calls use(column, block) as `forward` does.
template <class T, class Use>
void backward(const Linear<T>& linear, const T* gradient, std::size_t rows, float* block,
              const Use& use) {
  for (std::size_t column = 0; column < linear.in(); column += panel) {
    multiply_panel(rows, linear.out(), gradient, linear.out(),
                   linear.backward_panel(column / panel), block, panel, false);
    use(column, block);
  }
}

}  // namespace seqtrain::model::cpu
