#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/attention_backward.hpp>
#include <seqtrain/kernels/bf16_attention.hpp>
#include <seqtrain/kernels/bf16_attention_backward.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/head_norm.hpp>
#include <seqtrain/kernels/layer_norm.hpp>
#include <seqtrain/kernels/pack.hpp>
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
  /// Norms of each head's queries and keys [size], or of those of all heads, or none. With norms of
  /// each head attention reads copies of the heads, which are normalized and rotated.
  std::optional<NormTensors> query_norm = {}, key_norm = {};
  /// RMSNorms of what attention and the feed-forward network add to the residual, or none.
  std::optional<NormTensors> attention_result_norm = {}, result_norm = {};

  /// Returns the norms of hidden states, in the order of their sums: see `finish_backward`.
  [[nodiscard]] std::vector<const NormTensors*> norms() const {
    std::vector<const NormTensors*> result{&norm1, &norm2};
    if (result_norm) result.insert(result.end(), {&*attention_result_norm, &*result_norm});
    return result;
  }

  /// Computes what the norms need. Call it before a forward pass.
  void prepare_norms() {
    norm1.prepare();
    norm2.prepare();
    for (auto* const norm : {&query_norm, &key_norm, &attention_result_norm, &result_norm}) {
      if (*norm) (*norm)->prepare();
    }
  }

  [[nodiscard]] LayerShape shape() const {
    return {.hidden = hidden(),
            .inner = output.in(),
            .factors = intermediate.out(),
            .context = context_size(),
            .qkv = qkv.out(),
            .results = result_norm ? hidden() : 0,
            .raw = norms_all_heads() ? context_size() + key_size() : 0};
  }
  [[nodiscard]] std::size_t hidden() const { return attention_output.out(); }
  /// Returns the number of columns of all heads' queries, and of their results.
  [[nodiscard]] std::size_t context_size() const { return attention_output.in(); }
  /// Returns the number of heads of keys and values, each for `sharing()` heads of queries.
  [[nodiscard]] std::size_t key_heads() const {
    return LayerTraits::key_heads == 0 ? heads : LayerTraits::key_heads;
  }
  [[nodiscard]] std::size_t sharing() const { return heads / key_heads(); }
  /// Returns the number of columns of all heads' keys.
  [[nodiscard]] std::size_t key_size() const { return key_heads() * head_size(); }
  /// Tells whether queries and keys have norms of each head.
  [[nodiscard]] bool norms_each_head() const { return query_norm && !norms_all_heads(); }
  /// Tells whether queries and keys have norms of all heads together.
  [[nodiscard]] bool norms_all_heads() const {
    return query_norm && static_cast<std::size_t>(query_norm->gamma.numel()) != head_size();
  }
  [[nodiscard]] std::size_t head_size() const { return context_size() / heads; }
  /// Returns the numbers that attention needs for copies of heads of a sequence.
  [[nodiscard]] std::size_t numbers_of_copies(std::size_t length) const {
    return norms_each_head() ? length * (sharing() + 2) * head_size() : 0;
  }

  [[nodiscard]] std::array<PackedLinear<T>*, 4> linears() {
    return {&qkv, &attention_output, &intermediate, &output};
  }

  /// Computes q, k and v of `count` rows.
  void project(const LayerRows<T>& rows, std::size_t count, const Scratch<T>& scratch) const {
    project(rows.input, count, {0, qkv.out()}, rows.qkv, qkv.out(), scratch);
  }
  /// Computes k and v of `count` rows.
  void project_keys(const LayerRows<T>& rows, std::size_t count, const Scratch<T>& scratch) const {
    project(rows.input, count, {context_size(), qkv.out()}, rows.qkv, qkv.out(), scratch);
  }
  /// Computes q [count, context] of `input` [count, hidden].
  void project_queries(const T* input, std::size_t count, T* q, const Scratch<T>& scratch) const {
    project(input, count, {0, context_size()}, q, context_size(), scratch);
  }

  /// Normalizes the queries and keys of a sequence in place, if the layer has norms of all heads,
  /// and rotates them by their positions, if it has rotary positions. Call it before the sequence's
  /// attention. `rows` begin with the sequence's first token, here and in the functions below.
  void rotate(const LayerRows<T>& rows, const AttentionCall& call) const {
    if (norms_all_heads()) normalize_all_heads(rows, call);
    if (rotary && !norms_each_head()) rotate(rows, call, 1);
  }

  /// Computes the attention of a sequence by the heads with the keys of `key_head`. Token i's
  /// result goes to row i of `context`.
  void attend(const LayerRows<T>& rows, std::size_t key_head, const AttentionCall& call, T* context,
              const Scratch<T>& scratch) const {
    const HeadRows of = norms_each_head() ? normalized(rows, key_head, call, scratch.heads)
                                          : head_rows(rows.qkv, key_head);
    auto view = head_view(of, key_head, call);
    T* to = context + key_head * sharing() * view.size;
    for (std::size_t i = 0; i < sharing(); ++i, to += view.size) {
      attend(view, to, scratch);
      view.q += view.size;
      view.first += static_cast<std::uint32_t>(call.length * call.length);
    }
  }

  /// Computes the backward pass of `attend`, given `d_context`. The heads' q, k and v become their
  /// gradients. With norms of each head, adds to the sums of their gradients [size] at `d_norms`
  /// and `d_norms` + size.
  void attend_backward(const LayerRows<T>& rows, std::size_t key_head, const AttentionCall& call,
                       const T* d_context, float* d_norms, const Scratch<T>& scratch) const {
    const HeadRows of = norms_each_head() ? normalized(rows, key_head, call, scratch.heads)
                                          : head_rows(rows.qkv, key_head);
    const auto view = head_view(of, key_head, call);
    const T* const d = d_context + key_head * sharing() * view.size;
    attend_backward(view, d, of, scratch);
    if (norms_each_head()) normalized_backward(rows, key_head, call, of, d_norms);
  }

  /// Computes the backward pass of `rotate`. Call it after the backward passes of all heads. Clears
  /// the gradients of queries that did not attend. With norms of all heads, adds to the sums of
  /// their gradients at `d_norms` [context] and `d_norms` + context.
  void rotate_backward(const LayerRows<T>& rows, const AttentionCall& call, float* d_norms) const {
    for (std::size_t token = call.queries; token < call.length; ++token) {
      std::fill_n(rows.qkv + token * qkv.out(), context_size(), T{});
    }
    if (rotary && !norms_each_head()) rotate(rows, call, -1);
    if (norms_all_heads()) normalize_all_heads_backward(rows, call, d_norms);
  }

  /// Computes the part of the layer after attention. Writes the next layer's input to `next`. With
  /// `pre_norm`, the result of `norm2` in fp32 is left in `scratch.wide`.
  void finish(const LayerRows<T>& rows, std::size_t count, const LayerDropout& dropout,
              std::uint32_t first, float* x, T* next, const Scratch<T>& scratch) const {
    scratch.reduced->drop_at(dropout.adapters, first / hidden());
    forward(attention_output, rows.context, count, scratch)(scratch.blocks, scratch.wide);
    end_of_attention(rows, dropout).forward(first, x, pre_norm, rows.middle, count, scratch);
    const auto gate_first =
        first / static_cast<std::uint32_t>(hidden()) * static_cast<std::uint32_t>(output.in());
    const Product<T> product = forward(intermediate, rows.middle, count, scratch);
    scratch.blocks.each(output.in() / panel, [&](std::size_t index, float* block) {
      const std::size_t column = index * panel;
      with_kernel<kernels::Gelu>(activation, [&]<class Act>(Act) {
        activate<Act>(product, rows, column, count, dropout.gates,
                      gate_first + static_cast<std::uint32_t>(column), block);
      });
    });
    forward(output, rows.active, count, scratch)(scratch.blocks, scratch.wide);
    end_of_network(rows, dropout).forward(first, x, pre_norm, next, count, scratch);
  }

  /// Computes the backward pass of `finish`. Leaves the gradient of attention's result in
  /// `d_context` [rows, context]. sums(norm, use) calls use(row, count, d_gamma, d_beta) for each
  /// part of the rows; `use` adds the part's gradients of the norm with this number in `norms()` to
  /// these sums.
  template <class Sums>
  void finish_backward(const LayerRows<T>& rows, std::size_t count, const LayerDropout& dropout,
                       std::uint32_t first, float* gradient, T* d_context, const Sums& sums,
                       const Scratch<T>& scratch) const {
    float* const d_normal = pre_norm ? scratch.wide : gradient;
    const auto end_backward = [&](std::size_t norm, const PartEnd& end) {
      sums(norm, [&](std::size_t row, std::size_t part, float* d_gamma, float* d_beta) {
        end.backward(first, row, part, gradient, d_normal, d_gamma, d_beta);
      });
      if (!end.result_norm) return;
      sums(norm + 2, [&](std::size_t row, std::size_t part, float* d_gamma, float* d_beta) {
        end.result_backward(row, part, scratch.wide, d_gamma, d_beta);
      });
    };
    scratch.reduced->drop_at(dropout.adapters, first / hidden());
    end_backward(1, end_of_network(rows, dropout));
    const std::size_t inner = output.in();
    const std::size_t ld = intermediate.out();
    back(output, rows.normal2, count, scratch)
        .each(scratch.blocks, [&](std::size_t column, const float* d_active) {
          kernels::multiply(d_active, panel, rows.factors + column, ld, count, panel);
          if (!gated) return;
          kernels::multiply(d_active, panel, rows.factors + inner + column, ld, count, panel);
        });
    input_backward(intermediate, rows.factors, count, gradient, scratch);
    end_backward(0, end_of_attention(rows, dropout));
    back(attention_output, rows.normal1, count, scratch)
        .each(scratch.blocks, [&](std::size_t column, const float* block) {
          kernels::convert(block, panel, d_context + column, context_size(), count, panel);
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
  /// The end of a part of the layer, where the part's result is added to the residual, with the
  /// rows that both passes have of it. If the result has a norm, that comes first.
  struct PartEnd {
    const PackedLinear<T>& linear;  ///< gives the result
    const std::optional<NormTensors>& result_norm;
    const NormTensors& norm;  ///< of the sum
    const kernels::HashDropout& dropout;
    T* normal;
    float* inverse;
    T* normal_result;
    float* inverse_of_result;

    /// Adds scratch.wide, the product of `linear`, to the residual `x` and normalizes.
    void forward(std::uint32_t first, float* x, bool pre_norm, T* compact, std::size_t count,
                 const Scratch<T>& scratch) const {
      float* const wide = scratch.wide;
      const std::size_t n = linear.out();
      const float* bias = linear.bias();
      if (result_norm) {
        const kernels::LayerNormWeights weights = result_norm->weights();
        kernels::add_bias(wide, n, bias, wide, n, count, n);
        kernels::norm_and_drop<T>(wide, weights, {}, 0,
                                  {wide, compact, normal_result, inverse_of_result}, count, n);
        bias = weights.beta;  // zeros, as RMSNorm has no bias
      }
      if (!norm.exists()) {
        kernels::add_bias(wide, n, bias, wide, n, count, n);
        kernels::drop(wide, n, dropout, first, n, wide, n, count, n);
        kernels::add(wide, n, x, n, count, n);
        return kernels::convert(x, n, compact, n, count, n);
      }
      kernels::add_and_norm<T>(wide, bias, x, pre_norm ? x : wide, dropout, first, norm.weights(),
                               {pre_norm ? wide : x, compact, normal, inverse}, count, n);
    }

    /// Computes the backward pass of some rows up to the gradient of what dropout reads, which
    /// takes the place of `normal`.
    void backward(std::uint32_t first, std::size_t row, std::size_t count, float* gradient,
                  float* d_normal, float* d_gamma, float* d_beta) const {
      const std::size_t n = linear.out(), at = row * n;
      if (!norm.exists()) {
        kernels::add(d_normal + at, n, gradient + at, n, count, n);
        return kernels::drop(gradient + at, n, dropout, first + at, n, normal + at, n, count, n);
      }
      kernels::add_and_norm_backward(
          gradient + at, d_normal + at, normal + at, inverse + row, norm.weights(), dropout,
          first + static_cast<std::uint32_t>(at), normal + at, d_gamma, d_beta, count, n);
    }

    /// Computes the backward pass of the result's norm, in place of what `backward` leaves. `wide`
    /// is scratch memory.
    void result_backward(std::size_t row, std::size_t count, float* wide, float* d_gamma,
                         float* d_beta) const {
      const std::size_t n = linear.out(), at = row * n;
      kernels::widen(normal + at, n, count, n, wide + at);
      kernels::norm_and_drop_backward(wide + at, normal_result + at, inverse_of_result + row,
                                      result_norm->weights(), {}, 0, d_gamma, d_beta, count, n);
      kernels::convert(wide + at, n, normal + at, n, count, n);
    }
  };

  [[nodiscard]] PartEnd end_of_attention(const LayerRows<T>& rows,
                                         const LayerDropout& dropout) const {
    return {attention_output, attention_result_norm, norm1,        dropout.first,
            rows.normal1,     rows.inverse1,         rows.result1, rows.result_inverse1};
  }
  [[nodiscard]] PartEnd end_of_network(const LayerRows<T>& rows,
                                       const LayerDropout& dropout) const {
    return {output,       result_norm,   norm2,        dropout.second,
            rows.normal2, rows.inverse2, rows.result2, rows.result_inverse2};
  }

  void project(const T* input, std::size_t count, Columns columns, T* to, std::size_t ld,
               const Scratch<T>& scratch) const {
    const auto write = [&](std::size_t column, const float* block) {
      kernels::add_bias(block, panel, qkv.bias() + column, to + column, ld, count, panel);
    };
    forward(qkv, input, count, scratch).each(scratch.blocks, write, columns);
  }

  void rotate(const LayerRows<T>& rows, const AttentionCall& call, float sign) const {
    rotary->rotate(rows.qkv, qkv.out(), call.queries, heads, sign);
    rotary->rotate(rows.qkv + context_size(), qkv.out(), call.length, key_heads(), sign);
  }

  /// The queries of all heads with the same keys, the keys and the values. Rows are `ld` apart.
  struct HeadRows {
    T* q;
    T* k;
    T* v;
    std::size_t ld;
  };

  /// Returns the columns of a head of keys, and of its queries, of a sequence.
  [[nodiscard]] HeadRows head_rows(T* qkv_rows, std::size_t key_head) const {
    T* const k = qkv_rows + context_size() + key_head * head_size();
    return {.q = qkv_rows + key_head * sharing() * head_size(),
            .k = k,
            .v = k + key_size(),
            .ld = qkv.out()};
  }

  /// Normalizes the queries and keys of all heads, and keeps what they were if there is a backward
  /// pass.
  void normalize_all_heads(const LayerRows<T>& rows, const AttentionCall& call) const {
    const std::size_t ld = qkv.out(), columns = context_size() + key_size();
    for (std::size_t token = 0; rows.raw != nullptr && token < call.length; ++token) {
      std::copy_n(rows.qkv + token * ld, columns, rows.raw + token * columns);
    }
    T* const keys = rows.qkv + context_size();
    kernels::normalize_head(rows.qkv, ld, query_norm->weights(), rows.qkv, ld, call.queries,
                            context_size());
    kernels::normalize_head(keys, ld, key_norm->weights(), keys, ld, call.length, key_size());
  }

  /// Computes the backward pass of `normalize_all_heads`.
  void normalize_all_heads_backward(const LayerRows<T>& rows, const AttentionCall& call,
                                    float* d_norms) const {
    const std::size_t ld = qkv.out(), queries = context_size(), columns = queries + key_size();
    kernels::normalize_head_backward(rows.raw, columns, query_norm->weights(), rows.qkv, ld,
                                     d_norms, call.length, queries);
    kernels::normalize_head_backward(rows.raw + queries, columns, key_norm->weights(),
                                     rows.qkv + queries, ld, d_norms + queries, call.length,
                                     key_size());
    for (std::size_t token = 0; token < call.length; ++token) {
      std::copy_n(rows.raw + token * columns, columns, rows.qkv + token * ld);
    }
  }

  /// Copies the columns of a head of keys, and of its queries, to `copies`
  /// [length, (sharing + 2) size]. Normalizes and rotates the queries and keys.
  [[nodiscard]] HeadRows normalized(const LayerRows<T>& rows, std::size_t key_head,
                                    const AttentionCall& call, T* copies) const {
    const HeadRows from = head_rows(rows.qkv, key_head);
    const std::size_t size = head_size();
    const HeadRows to{copies, copies + sharing() * size, copies + (sharing() + 1) * size,
                      (sharing() + 2) * size};
    for (std::size_t i = 0; i < sharing(); ++i) {
      kernels::normalize_head(from.q + i * size, from.ld, query_norm->weights(), to.q + i * size,
                              to.ld, call.queries, size);
    }
    kernels::normalize_head(from.k, from.ld, key_norm->weights(), to.k, to.ld, call.length, size);
    for (std::size_t token = 0; token < call.length; ++token) {
      std::copy_n(from.v + token * from.ld, size, to.v + token * to.ld);
    }
    rotate_copies(to, call, 1);
    return to;
  }

  void rotate_copies(const HeadRows& copies, const AttentionCall& call, float sign) const {
    if (!rotary) return;
    rotary->rotate(copies.q, copies.ld, call.queries, sharing(), sign);
    rotary->rotate(copies.k, copies.ld, call.length, 1, sign);
  }

  /// Computes the backward pass of `normalized`, whose copies hold the gradients of what it
  /// returned.
  void normalized_backward(const LayerRows<T>& rows, std::size_t key_head,
                           const AttentionCall& call, const HeadRows& copies,
                           float* d_norms) const {
    const HeadRows to = head_rows(rows.qkv, key_head);
    const std::size_t size = head_size();
    rotate_copies(copies, call, -1);
    for (std::size_t i = 0; i < sharing(); ++i) {
      kernels::normalize_head_backward(to.q + i * size, to.ld, query_norm->weights(),
                                       copies.q + i * size, copies.ld, d_norms, call.queries, size);
    }
    kernels::normalize_head_backward(to.k, to.ld, key_norm->weights(), copies.k, copies.ld,
                                     d_norms + size, call.length, size);
    for (std::size_t token = 0; token < call.length; ++token) {
      std::copy_n(copies.v + token * copies.ld, size, to.v + token * to.ld);
    }
  }

  void attend(const kernels::AttentionHead<T>& view, T* to, const Scratch<T>& scratch) const {
    if constexpr (std::is_same_v<T, Bf16>) {
      kernels::attend_bf16(view, to, context_size(), {scratch.attention});
    } else {
      kernels::attend(view, to, context_size(), {scratch.attention});
    }
  }

  void attend_backward(const kernels::AttentionHead<T>& view, const T* d, const HeadRows& to,
                       const Scratch<T>& scratch) const {
    if constexpr (std::is_same_v<T, Bf16>) {
      kernels::attend_bf16_backward(view, d, context_size(), to.q, to.k, to.v, {scratch.attention});
    } else {
      kernels::attend_backward(view, d, context_size(), to.q, to.k, to.v, {scratch.attention});
    }
  }

  /// Returns the first head with the keys of `key_head`.
  [[nodiscard]] kernels::AttentionHead<T> head_view(const HeadRows& rows, std::size_t key_head,
                                                    const AttentionCall& call) const {
    const std::size_t head = key_head * sharing();
    const auto of_head = [&](auto* numbers) {
      return numbers == nullptr ? numbers : numbers + head * call.bias_of_a_head;
    };
    return {.q = rows.q,
            .k = rows.k,
            .v = rows.v,
            .ld = rows.ld,
            .queries = call.queries,
            .length = call.length,
            .size = head_size(),
            .dropout = call.dropout,
            .first = call.first + static_cast<std::uint32_t>(head * call.length * call.length),
            .sliding_window = sliding_window,
            .bias = of_head(call.bias),
            .d_bias = of_head(call.d_bias),
            .vectors = call.vectors_of_a_head.of_head(head, call.vectors),
            .parts = score_parts,
            .factor = static_cast<float>(score_scale),
            .cap = static_cast<float>(score_cap),
            .causal = causal,
            .sharing = sharing(),
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

  /// Computes `panel` activations of each row from `column` on. `first` is the dropout's index of
  /// the first one, and `block` [2, count, panel] is scratch memory.
  template <class Act>
  void activate(const Product<T>& product, const LayerRows<T>& rows, std::size_t column,
                std::size_t count, const kernels::HashDropout& dropout, std::uint32_t first,
                float* block) const {
    const std::size_t inner = output.in();
    const std::size_t argument = (activates_second ? inner : 0) + column;
    const std::size_t gate = (activates_second ? 0 : inner) + column;
    const auto factors = [&](std::size_t from) {
      return rows.factors == nullptr ? nullptr : rows.factors + from;
    };
    const float* const bias = intermediate.bias();
    product(argument, block, panel);
    if (!gated) {
      return kernels::activate<Act>(block, panel, bias + argument, rows.active + column,
                                    factors(argument), inner, count, panel);
    }
    float* const gates = block + count * panel;
    product(gate, gates, panel);
    kernels::activate_gated<Act>(block, gates, panel, bias + argument, bias + gate, dropout, first,
                                 rows.active + column, inner, factors(argument), factors(gate),
                                 2 * inner, count, panel);
  }

  /// Computes the gradient of a linear layer's input, given that of its output.
  void input_backward(const PackedLinear<T>& linear, const T* d_output, std::size_t count,
                      float* gradient, const Scratch<T>& scratch) const {
    if (!pre_norm) return add_to(gradient, linear, d_output, count, scratch);
    back(linear, d_output, count, scratch)(scratch.blocks, scratch.wide);
  }

  void add_to(float* gradient, const PackedLinear<T>& linear, const T* d_output, std::size_t count,
              const Scratch<T>& scratch) const {
    back(linear, d_output, count, scratch)
        .each(scratch.blocks, [&](std::size_t column, const float* block) {
          kernels::add(block, panel, gradient + column, hidden(), count, panel);
        });
  }
};

}  // namespace seqtrain::model::cpu
