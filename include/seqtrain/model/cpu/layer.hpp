#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/attention_backward.hpp>
#include <seqtrain/kernels/bf16_attention.hpp>
#include <seqtrain/kernels/bf16_attention_backward.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/layer_norm.hpp>
#include <seqtrain/kernels/rotary.hpp>
#include <seqtrain/model/cpu/attention_call.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/norm_tensors.hpp>
#include <seqtrain/model/cpu/rows.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model::cpu {

/// The dropout of one layer in one pass.
struct LayerDropout {
  kernels::HashDropout attention;  ///< applies to attention's probabilities
  kernels::HashDropout first;      ///< applies to the result of attention's output linear layer
  kernels::HashDropout gates;      ///< applies to a gated network's activations
  kernels::HashDropout
      second;  ///< applies to the result of the feed-forward network's output linear layer
  std::uint64_t adapters = 0;  ///< site of the dropout of adapters' inputs; 0 for none
};

/// One layer of the encoder on packed rows: attention, then a feed-forward network. The residual is
/// kept in fp32 in `x` [rows, hidden]; in the backward pass `gradient` [rows, hidden] is its
/// gradient.
///
/// A layer of BERT normalizes the residual after each of its two parts. A layer with `pre_norm`
/// leaves the residual as it is and normalizes what its parts read (Xiong et al. 2020): `norm1` is
/// the feed-forward network's, and `norm2` is the next layer's or the encoder's last. The gradient
/// with respect to the result of `norm2` is then in `scratch.wide` [rows, hidden].
template <class T>
class Layer : public LayerTraits {
 public:
  PackedLinear<T> qkv, attention_output, intermediate, output;
  NormTensors norm1, norm2;
  std::shared_ptr<kernels::RotaryAngles> rotary = nullptr;  ///< null if nothing is rotated

  [[nodiscard]] LayerShape shape() const {
    return {attention_output.out(), output.in(), intermediate.out()};
  }
  [[nodiscard]] std::size_t hidden() const { return attention_output.out(); }

  [[nodiscard]] std::array<PackedLinear<T>*, 4> linears() {
    return {&qkv, &attention_output, &intermediate, &output};
  }

  /// Computes q, k and v of `count` rows.
  void project(const LayerRows<T>& rows, std::size_t count, const Scratch<T>& scratch) const {
    project(rows.input, count, {0, qkv.out()}, rows.qkv, qkv.out(), scratch);
  }
  /// Computes k and v of `count` rows.
  void project_keys(const LayerRows<T>& rows, std::size_t count, const Scratch<T>& scratch) const {
    project(rows.input, count, {hidden(), qkv.out()}, rows.qkv, qkv.out(), scratch);
  }
  /// Computes q [count, hidden] of `input` [count, hidden].
  void project_queries(const T* input, std::size_t count, T* q, const Scratch<T>& scratch) const {
    project(input, count, {0, hidden()}, q, hidden(), scratch);
  }

  /// Rotates the queries and keys of a sequence in place by their positions, if the layer has
  /// rotary positions. Call it before the sequence's attention. `rows` begin with the sequence's
  /// first token, here and in the functions below.
  void rotate(const LayerRows<T>& rows, const AttentionCall& call) const {
    if (rotary) rotate(rows, call, 1);
  }

  /// Computes a head's attention of a sequence. Token i's result goes to row i of `context`.
  void attend(const LayerRows<T>& rows, std::size_t head, const AttentionCall& call, T* context,
              const Scratch<T>& scratch) const {
    const auto view = head_view(rows, head, call);
    T* const to = context + head * view.size;
    if constexpr (std::is_same_v<T, Bf16>) {
      if (view.by_tiles) return kernels::attend_bf16(view, to, hidden(), {scratch.attention});
    }
    kernels::attend(view, to, hidden(), {scratch.attention});
  }

  /// Computes the backward pass of `attend`, given `d_context`. The head's q, k and v become their
  /// gradients.
  void attend_backward(const LayerRows<T>& rows, std::size_t head, const AttentionCall& call,
                       const T* d_context, const Scratch<T>& scratch) const {
    const auto view = head_view(rows, head, call);
    T* const q = rows.qkv + head * view.size;
    T* const k = q + hidden();
    const T* const d = d_context + head * view.size;
    if constexpr (std::is_same_v<T, Bf16>) {
      if (view.by_tiles) {
        return kernels::attend_bf16_backward(view, d, hidden(), q, k, k + hidden(),
                                             {scratch.attention});
      }
    }
    kernels::attend_backward(view, d, hidden(), q, k, k + hidden(), {scratch.attention});
  }

  /// Computes the backward pass of `rotate`. Call it after the backward passes of all heads. Clears
  /// the gradients of queries that did not attend.
  void rotate_backward(const LayerRows<T>& rows, const AttentionCall& call) const {
    for (std::size_t token = call.queries; token < call.length; ++token) {
      std::fill_n(rows.qkv + token * qkv.out(), hidden(), T{});
    }
    if (rotary) rotate(rows, call, -1);
  }

  /// Computes the part of the layer after attention. Writes the next layer's input to `next`. With
  /// `pre_norm`, the result of `norm2` in fp32 is left in `scratch.wide`.
  void finish(const LayerRows<T>& rows, std::size_t count, const LayerDropout& dropout,
              std::uint32_t first, float* x, T* next, const Scratch<T>& scratch) const {
    scratch.reduced->drop_at(dropout.adapters, first / hidden());
    forward(attention_output, rows.context, count, scratch)(scratch.wide);
    add_and_norm(attention_output, norm1, dropout.first, first, x,
                 {rows.middle, rows.normal1, rows.inverse1}, count, scratch);
    const auto gate_first =
        first / static_cast<std::uint32_t>(hidden()) * static_cast<std::uint32_t>(output.in());
    const Product<T> product = forward(intermediate, rows.middle, count, scratch);
    for (std::size_t column = 0; column < output.in(); column += panel) {
      with_kernel<kernels::Gelu>(activation, [&]<class Act>(Act) {
        activate<Act>(product, rows, column, count, dropout.gates,
                      gate_first + static_cast<std::uint32_t>(column), scratch);
      });
    }
    forward(output, rows.active, count, scratch)(scratch.wide);
    add_and_norm(output, norm2, dropout.second, first, x, {next, rows.normal2, rows.inverse2},
                 count, scratch);
  }

  /// Computes the backward pass of `finish`. Leaves the gradient of attention's result in
  /// `d_context` [rows, hidden]. sums(norm, use) calls use(row, count, d_gamma, d_beta) for each
  /// part of the rows; `use` adds the part's gradients of norm1 (norm = 0) or norm2 (norm = 1) to
  /// these sums.
  template <class Sums>
  void finish_backward(const LayerRows<T>& rows, std::size_t count, const LayerDropout& dropout,
                       std::uint32_t first, float* gradient, T* d_context, const Sums& sums,
                       const Scratch<T>& scratch) const {
    const auto norm_backward = [&](std::size_t which, const NormTensors& norm,
                                   const kernels::HashDropout& drop, T* normal,
                                   const float* inverse) {
      sums(which, [&](std::size_t row, std::size_t part, float* d_gamma, float* d_beta) {
        const std::size_t at = row * hidden();
        const auto index = first + static_cast<std::uint32_t>(at);
        kernels::add_and_norm_backward(gradient + at, (pre_norm ? scratch.wide : gradient) + at,
                                       normal + at, inverse + row, norm.weights().gamma, drop,
                                       index, normal + at, d_gamma, d_beta, part, hidden());
      });
    };
    scratch.reduced->drop_at(dropout.adapters, first / hidden());
    norm_backward(1, norm2, dropout.second, rows.normal2, rows.inverse2);
    const std::size_t inner = output.in();
    const std::size_t ld = intermediate.out();
    back(output, rows.normal2, count, scratch)
        .each(scratch.block, [&](std::size_t column, const float* d_active) {
          kernels::multiply(d_active, panel, rows.factors + column, ld, count, panel);
          if (!gated) return;
          kernels::multiply(d_active, panel, rows.factors + inner + column, ld, count, panel);
        });
    input_backward(intermediate, rows.factors, count, gradient, scratch);
    norm_backward(0, norm1, dropout.first, rows.normal1, rows.inverse1);
    back(attention_output, rows.normal1, count, scratch)
        .each(scratch.block, [&](std::size_t column, const float* block) {
          kernels::convert(block, panel, d_context + column, hidden(), count, panel);
        });
  }

  /// Computes the backward pass of `project`. Adds the gradient of its input to `gradient` or, with
  /// `pre_norm` and a norm before attention, leaves the gradient of the norm's result in
  /// `scratch.wide`.
  void project_backward(const LayerRows<T>& rows, std::size_t count, bool input_is_normalized,
                        float* gradient, const Scratch<T>& scratch) const {
    if (pre_norm && !input_is_normalized) {
      add_to(gradient, qkv, rows.qkv, count, scratch);
    } else {
      input_backward(qkv, rows.qkv, count, gradient, scratch);
    }
  }

 private:
  /// The places for the results of a norm, except its result in fp32.
  struct NormResult {
    T* compact;
    T* normal;
    float* inverse;
  };

  void project(const T* input, std::size_t count, Columns columns, T* to, std::size_t ld,
               const Scratch<T>& scratch) const {
    const auto write = [&](std::size_t column, const float* block) {
      kernels::add_bias(block, panel, qkv.bias() + column, to + column, ld, count, panel);
    };
    forward(qkv, input, count, scratch).each(scratch.block, write, columns);
  }

  void rotate(const LayerRows<T>& rows, const AttentionCall& call, float sign) const {
    rotary->rotate(rows.qkv, qkv.out(), call.queries, heads, sign);
    rotary->rotate(rows.qkv + hidden(), qkv.out(), call.length, heads, sign);
  }

  [[nodiscard]] kernels::AttentionHead<T> head_view(const LayerRows<T>& rows, std::size_t head,
                                                    const AttentionCall& call) const {
    const std::size_t size = hidden() / heads;
    const T* const q = rows.qkv + head * size;
    const auto of_head = [&](auto* numbers) {
      return numbers == nullptr ? numbers : numbers + head * call.bias_of_a_head;
    };
    return {.q = q,
            .k = q + hidden(),
            .v = q + 2 * hidden(),
            .ld = qkv.out(),
            .queries = call.queries,
            .length = call.length,
            .size = size,
            .dropout = call.dropout,
            .first = call.first + static_cast<std::uint32_t>(head * call.length * call.length),
            .sliding_window = sliding_window,
            .bias = of_head(call.bias),
            .d_bias = of_head(call.d_bias),
            .vectors = call.vectors_of_a_head.of_head(head, call.vectors),
            .parts = score_parts,
            .by_tiles = has_tiles()};
  }

  [[nodiscard]] static Product<T> forward(const PackedLinear<T>& linear, const T* x,
                                          std::size_t count, const Scratch<T>& scratch) {
    return {Pass::forward, linear, x, count, *scratch.reduced};
  }
  [[nodiscard]] static Product<T> back(const PackedLinear<T>& linear, const T* d_output,
                                       std::size_t count, const Scratch<T>& scratch) {
    return {Pass::backward, linear, d_output, count, *scratch.reduced};
  }

  /// Adds scratch.wide, the product of `linear`, to the residual and normalizes.
  void add_and_norm(const PackedLinear<T>& linear, const NormTensors& norm,
                    const kernels::HashDropout& dropout, std::uint32_t first, float* x,
                    const NormResult& to, std::size_t count, const Scratch<T>& scratch) const {
    float* const wide = scratch.wide;
    kernels::add_and_norm<T>(
        wide, linear.bias(), x, pre_norm ? x : wide, dropout, first, norm.weights(),
        {pre_norm ? wide : x, to.compact, to.normal, to.inverse}, count, hidden());
  }

  /// Computes `panel` activations of each row from `column` on. `first` is the dropout's index of
  /// the first one.
  template <class Act>
  void activate(const Product<T>& product, const LayerRows<T>& rows, std::size_t column,
                std::size_t count, const kernels::HashDropout& dropout, std::uint32_t first,
                const Scratch<T>& scratch) const {
    const std::size_t inner = output.in();
    T* const factors = rows.factors == nullptr ? nullptr : rows.factors + column;
    const float* const bias = intermediate.bias() + column;
    product(column, scratch.block, panel);
    if (!gated) {
      return kernels::activate<Act>(scratch.block, panel, bias, rows.active + column, factors,
                                    inner, count, panel);
    }
    product(inner + column, scratch.wide, panel);  // [count, panel] of it
    kernels::activate_gated<Act>(scratch.block, scratch.wide, panel, bias, bias + inner, dropout,
                                 first, rows.active + column, inner, factors,
                                 factors == nullptr ? nullptr : factors + inner, 2 * inner, count,
                                 panel);
  }

  /// Computes the gradient of a linear layer's input, given that of its output.
  void input_backward(const PackedLinear<T>& linear, const T* d_output, std::size_t count,
                      float* gradient, const Scratch<T>& scratch) const {
    if (!pre_norm) return add_to(gradient, linear, d_output, count, scratch);
    back(linear, d_output, count, scratch)(scratch.wide);
  }

  void add_to(float* gradient, const PackedLinear<T>& linear, const T* d_output, std::size_t count,
              const Scratch<T>& scratch) const {
    back(linear, d_output, count, scratch)
        .each(scratch.block, [&](std::size_t column, const float* block) {
          kernels::add(block, panel, gradient + column, hidden(), count, panel);
        });
  }
};

}  // namespace seqtrain::model::cpu
