#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/layer_norm.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/rows.hpp>
#include <seqtrain/model/cpu/scratch.hpp>
#include <seqtrain/tensor/parallel.hpp>

namespace seqtrain::model::cpu {

enum class ActivationKind { gelu, gelu_new, relu };

/// gamma and beta with their gradients.
struct NormTensors {
  at::Tensor gamma, beta, gamma_gradient, beta_gradient;
  double eps;

  [[nodiscard]] kernels::LayerNormWeights weights() const {
    return {gamma.const_data_ptr<float>(), beta.const_data_ptr<float>(), static_cast<float>(eps)};
  }
};

/// The dropout of one layer in one pass.
struct LayerDropout {
  kernels::Dropout attention, first, second;
};

/// One layer of the encoder on packed rows: attention, then a feed-forward network, each followed
/// by dropout, the residual and LayerNorm. The residual is kept in fp32 in `x` [rows, hidden],
/// which holds the layer's input before and its output after; in the backward pass `gradient`
/// [rows, hidden] holds that of the output before and that of the input after.
template <class T>
class Layer {
 public:
  Linear<T> qkv, attention_output, intermediate, output;
  NormTensors norm1, norm2;
  ActivationKind activation;
  std::size_t heads;

  [[nodiscard]] std::size_t hidden() const { return attention_output.out(); }
  [[nodiscard]] std::size_t inner() const { return intermediate.out(); }

  [[nodiscard]] std::array<Linear<T>*, 4> linears() {
    return {&qkv, &attention_output, &intermediate, &output};
  }

  /// q, k and v of a group's rows.
  void project(const LayerRows<T>& rows, std::size_t count, const Scratch<T>& scratch) const {
    project(rows.input, count, {0, qkv.out()}, rows.qkv, qkv.out(), scratch);
  }
  /// k and v alone.
  void project_keys(const LayerRows<T>& rows, std::size_t count, const Scratch<T>& scratch) const {
    project(rows.input, count, {hidden(), qkv.out()}, rows.qkv, qkv.out(), scratch);
  }
  /// q [count, hidden] of rows of which `input` [count, hidden] is the input.
  void project_queries(const T* input, std::size_t count, T* q, const Scratch<T>& scratch) const {
    project(input, count, {0, hidden()}, q, hidden(), scratch);
  }

  /// The heads of one sequence whose first token is that of `rows`; its first `queries` tokens ask.
  /// Token i's result goes to row i of `context`. `first` is dropout's index of its scores.
  void attend(const LayerRows<T>& rows, std::size_t length, std::size_t queries,
              const kernels::Dropout& dropout, std::uint32_t first, T* context,
              const Scratch<T>& scratch) const {
    for (std::size_t head = 0; head < heads; ++head) {
      const auto view = head_view(rows, head, length, queries, dropout, first);
      kernels::attend(view, context + head * view.size, hidden(), {scratch.attention});
    }
  }

  /// The way back; q, k and v become their gradients.
  void attend_backward(const LayerRows<T>& rows, std::size_t length, std::size_t queries,
                       const kernels::Dropout& dropout, std::uint32_t first, const T* gradient,
                       const Scratch<T>& scratch) const {
    for (std::size_t head = 0; head < heads; ++head) {
      const auto view = head_view(rows, head, length, queries, dropout, first);
      T* const q = rows.qkv + head * view.size;
      kernels::attend_backward(view, gradient + head * view.size, hidden(), q, q + hidden(),
                               q + 2 * hidden(), {scratch.attention});
    }
  }

  /// All that follows attention; `next` is the next layer's input.
  void finish(const LayerRows<T>& rows, std::size_t count, const LayerDropout& dropout,
              std::uint32_t first, float* x, T* next, const Scratch<T>& scratch) const {
    map_to_wide(attention_output, rows.context, count, scratch);
    kernels::add_and_norm<T>(scratch.wide, attention_output.bias(), x, dropout.first, first,
                             norm1.weights(), {x, rows.middle, rows.normal1, rows.inverse1}, count,
                             hidden());
    forward(intermediate, rows.middle, hidden(), count, scratch.block,
            [&](std::size_t column, const float* block) {
              T* const slope = rows.slope == nullptr ? nullptr : rows.slope + column;
              activate(block, intermediate.bias() + column, rows.active + column, slope, count);
            });
    map_to_wide(output, rows.active, count, scratch);
    kernels::add_and_norm<T>(scratch.wide, output.bias(), x, dropout.second, first, norm2.weights(),
                             {x, next, rows.normal2, rows.inverse2}, count, hidden());
  }

  /// Its way back; leaves in `context_gradient` [rows, hidden] that of attention's result.
  /// sums(0 or 1, use) calls use(row, count, d_gamma, d_beta) for parts of the rows, each with what
  /// the gradients of its rows for norm1 or norm2 are added to.
  template <class Sums>
  void finish_backward(const LayerRows<T>& rows, std::size_t count, const LayerDropout& dropout,
                       std::uint32_t first, float* gradient, T* context_gradient, const Sums& sums,
                       const Scratch<T>& scratch) const {
    const auto norm_backward = [&](std::size_t which, const NormTensors& norm,
                                   const kernels::Dropout& drop, T* normal, const float* inverse) {
      sums(which, [&](std::size_t row, std::size_t part, float* d_gamma, float* d_beta) {
        const std::size_t at = row * hidden();
        kernels::add_and_norm_backward(
            gradient + at, normal + at, inverse + row, norm.weights().gamma, drop,
            first + static_cast<std::uint32_t>(at), normal + at, d_gamma, d_beta, part, hidden());
      });
    };
    norm_backward(1, norm2, dropout.second, rows.normal2, rows.inverse2);
    backward(output, rows.normal2, count, scratch.block,
             [&](std::size_t column, const float* block) {
               kernels::multiply(block, panel, rows.slope + column, inner(), count, panel);
             });
    backward(intermediate, rows.slope, count, scratch.block,
             [&](std::size_t column, const float* block) {
               kernels::add(block, panel, gradient + column, hidden(), count, panel);
             });
    norm_backward(0, norm1, dropout.first, rows.normal1, rows.inverse1);
    backward(attention_output, rows.normal1, count, scratch.block,
             [&](std::size_t column, const float* block) {
               kernels::convert(block, panel, context_gradient + column, hidden(), count, panel);
             });
  }

  /// Adds to `gradient` what comes through q, k and v.
  void project_backward(const LayerRows<T>& rows, std::size_t count, float* gradient,
                        const Scratch<T>& scratch) const {
    backward(qkv, rows.qkv, count, scratch.block, [&](std::size_t column, const float* block) {
      kernels::add(block, panel, gradient + column, hidden(), count, panel);
    });
  }

 private:
  void project(const T* input, std::size_t count, Columns columns, T* to, std::size_t ld,
               const Scratch<T>& scratch) const {
    forward(qkv, input, hidden(), count, scratch.block, columns,
            [&](std::size_t column, const float* block) {
              kernels::add_bias(block, panel, qkv.bias() + column, to + column, ld, count, panel);
            });
  }

  [[nodiscard]] kernels::Head<T> head_view(const LayerRows<T>& rows, std::size_t head,
                                           std::size_t length, std::size_t queries,
                                           const kernels::Dropout& dropout,
                                           std::uint32_t first) const {
    const std::size_t size = hidden() / heads;
    const T* const q = rows.qkv + head * size;
    return {.q = q,
            .k = q + hidden(),
            .v = q + 2 * hidden(),
            .ld = qkv.out(),
            .queries = queries,
            .length = length,
            .size = size,
            .dropout = dropout,
            .first = first + static_cast<std::uint32_t>(head * length * length)};
  }

  /// scratch.wide [count, out] = x W^T
  static void map_to_wide(const Linear<T>& linear, const T* x, std::size_t count,
                          const Scratch<T>& scratch) {
    for (std::size_t column = 0; column < linear.out(); column += panel) {
      multiply_panel(count, linear.in(), x, linear.in(), linear.forward_panel(column / panel),
                     scratch.wide + column, linear.out(), false);
    }
  }

  void activate(const float* block, const float* bias, T* active, T* slope,
                std::size_t count) const {
    switch (activation) {
      case ActivationKind::gelu:
        return kernels::activate<kernels::Gelu>(block, panel, bias, active, slope, inner(), count,
                                                panel);
      case ActivationKind::gelu_new:
        return kernels::activate<kernels::GeluNew>(block, panel, bias, active, slope, inner(),
                                                   count, panel);
      case ActivationKind::relu:
        return kernels::activate<kernels::Relu>(block, panel, bias, active, slope, inner(), count,
                                                panel);
    }
  }
};

/// Returns how many changes of the layers' linear maps have been counted.
template <class T>
[[nodiscard]] std::int64_t changes_of(std::span<Layer<T>> layers) {
  std::int64_t sum = 0;
  for (Layer<T>& layer : layers) {
    for (const Linear<T>* const linear : layer.linears()) sum += linear->changes();
  }
  return sum;
}

/// Packs those of the layers' weights anew that have changed, see `Linear::begin_packing`.
template <class T>
void pack_weights(std::span<Layer<T>> layers, bool always) {
  struct Task {
    Linear<T>* linear;
    std::size_t panel;
  };
  std::vector<Task> tasks;
  for (Layer<T>& layer : layers) {
    for (Linear<T>* const linear : layer.linears()) {
      const std::size_t panels = linear->begin_packing(always);
      for (std::size_t i = 0; i < panels; ++i) tasks.push_back({linear, i});
    }
  }
  tensor::for_each_task(tasks.size(),
                        [&](std::size_t i, std::size_t) { tasks[i].linear->pack(tasks[i].panel); });
}

}  // namespace seqtrain::model::cpu
