#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <seqtrain/kernels/activation.hpp>
#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/attention_backward.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/bf16_attention.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/pack.hpp>

namespace seqtrain::kernels {

namespace detail {

/// Turns a row of e^score, given 1 / their sum, into probabilities after dropout in `kept`. Turns
/// the row d from the gradient with respect to these into the gradient with respect to the scores.
template <std::size_t width>
SEQTRAIN_INLINE void score_gradient(const float* exponentials, float inverse, float* d,
                                    std::size_t n, const HashDropout& dropout, std::uint32_t index,
                                    Bf16* kept) {
  using Floats = typename Width<width>::Floats;
  Floats p, di, products = {};
  for (std::size_t i = 0; i < n; i += width) {
    Floats factors = Floats{} + 1;
    load(exponentials + i, p);
    load(d + i, di);
    dropout.apply(index + static_cast<std::uint32_t>(i), factors);
    p *= inverse;
    di *= factors;
    products += p * di;
    store(d + i, di);
    store(kept + i, p * factors);
  }
  const float dot = sum(products);
  for (std::size_t i = 0; i < n; i += width) {
    load(exponentials + i, p);
    load(d + i, di);
    store(d + i, (di - dot) * (p * inverse));
  }
}

/// Computes the gradients of a block of a head's queries: writes those of q to `d_q`, and adds
/// those of k and v to `k_sums` and `v_sums` [length, size].
inline void add_bf16_gradients(const AttentionHead<Bf16>& head, const QueryBlock& block,
                               const Bf16* d_out, std::size_t ld_out, Bf16* d_q, float* k_sums,
                               float* v_sums, AttentionScratch memory) {
  const std::size_t size = head.size;
  Bf16Block matrices{head, block, memory};
  const std::size_t keys = matrices.keys(), queries = matrices.queries(), ld = matrices.ld();
  const Bf16* const q = matrices.rows_of_queries(head.q, head.ld);
  const Bf16* const k = matrices.rows_of_keys(head.k);
  const Bf16* const g = matrices.rows_of_queries(d_out, ld_out);
  float* const p = matrices.scores(q, k);
  float* const d = matrices.scores(g, matrices.rows_of_keys(head.v));
  Bf16* const kept = matrices.take_bf16(queries * ld);
  // The gradient of the scores times their scale, in the first halves of the rows of d.
  Bf16* const d_scores = reinterpret_cast<Bf16*>(d);
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    const float scale = head.scale(), scale_left = head.bias == nullptr ? scale : 1;
    for (std::size_t row = 0; row < block.queries; ++row) {
      float* const p_row = p + row * ld;
      float* const d_row = d + row * ld;
      const KeysOfQuery of{head, block, row};
      if (head.bias != nullptr) {
        multiply_row<width>(p_row, scale, keys, p_row);
        add_row<width>(head.bias - static_cast<std::ptrdiff_t>(of.place), block.keys, p_row);
      }
      const float inverse = exponentials_row<width>(p_row, of.begin, of.end, keys, scale_left,
                                                    HashDropout{}, 0, p_row);
      score_gradient<width>(p_row, inverse, d_row, keys, head.dropout,
                            dropout_index(head, block, row), kept + row * ld);
      if (head.d_bias != nullptr) {
        add_row<width>(d_row, block.keys, head.d_bias - static_cast<std::ptrdiff_t>(of.place));
      }
      multiply_row<width>(d_row, scale, keys, d_scores + 2 * row * ld);
    }
  });
  for (std::size_t row = block.queries; row < queries; ++row) {
    std::fill_n(kept + row * ld, keys, Bf16{});
    std::fill_n(d_scores + 2 * row * ld, keys, Bf16{});
  }
  float* const result = matrices.take(std::max(queries, keys) * size);
  matrices.multiply(d_scores, 2 * ld, block.queries, block.keys, matrices.pack(k, keys), size,
                    result, size);
  convert(result, size, d_q + block.first * head.ld, head.ld, block.queries, size);
  Bf16* const transposed = matrices.take_bf16(queries * keys);
  const auto add_product = [&](const Bf16* of_scores, std::size_t apart, const Bf16* rows,
                               float* sums) {
    transpose_and_sum(of_scores, apart, queries, keys, transposed, result);  // sums do not matter
    matrices.multiply(transposed, queries, block.keys, block.queries, matrices.pack(rows, queries),
                      size, result, size);
    add(result, size, sums + block.first_key * size, size, block.keys, size);
  };
  add_product(d_scores, 2 * ld, q, k_sums);
  add_product(kept, ld, g, v_sums);
}

}  // namespace detail

/// Computes what `attend_backward` computes. If `has_bf16_attention(head.size)`, and scores have no
/// cap and nothing added but a bias, it multiplies bfloat16 numbers, with sums in fp32.
inline void attend_bf16_backward(const AttentionHead<Bf16>& head, const Bf16* d_out,
                                 std::size_t ld_out, Bf16* d_q, Bf16* d_k, Bf16* d_v,
                                 AttentionScratch memory) {
  const std::size_t size = head.size;
  if (!has_bf16_attention(size) || head.cap != 0 || head.vectors.any()) {
    return attend_backward(head, d_out, ld_out, d_q, d_k, d_v, memory);
  }
  AttentionScratch rest = memory;
  float* const k_sums = rest.take(head.length * size);
  float* const v_sums = rest.take(head.length * size);
  std::fill_n(k_sums, 2 * head.length * size, 0.0F);
  AttentionHead<Bf16> one = head;
  for (std::size_t i = 0; i < head.sharing; ++i) {
    for_each_query_block(one, [&](const QueryBlock& block) {
      detail::add_bf16_gradients(one, block, d_out + i * size, ld_out, d_q + i * size, k_sums,
                                 v_sums, rest);
    });
    one.q += size;
    one.first += static_cast<std::uint32_t>(head.length * head.length);
  }
  convert(k_sums, size, d_k, head.ld, head.length, size);
  convert(v_sums, size, d_v, head.ld, head.length, size);
}

}  // namespace seqtrain::kernels
