#pragma once

#include <cstddef>
#include <cstdint>

#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/distance_scores.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/small_product.hpp>

namespace seqtrain::kernels {

/// Turns a row d from the gradient with respect to the probabilities after dropout into the
/// gradient with respect to the scores. Turns the row p from probabilities into probabilities after
/// dropout.
template <std::size_t width>
SEQTRAIN_INLINE void score_gradient(float* p, float* d, std::size_t n, const HashDropout& dropout,
                                    std::uint32_t index) {
  typename Width<width>::Floats pi, di, products = {};
  for (std::size_t i = 0; i < n; i += width) {
    load(p + i, pi);
    load(d + i, di);
    dropout.apply(index + static_cast<std::uint32_t>(i), di);
    products += pi * di;
    store(d + i, di);
  }
  const float dot = sum(products);
  for (std::size_t i = 0; i < n; i += width) {
    load(p + i, pi);
    load(d + i, di);
    store(d + i, (di - dot) * pi);
    dropout.apply(index + static_cast<std::uint32_t>(i), pi);
    store(p + i, pi);
  }
}

/// Computes x = x * y for n numbers, a multiple of 16.
template <std::size_t width>
SEQTRAIN_INLINE void multiply_numbers(float* x, const float* y, std::size_t n) {
  typename Width<width>::Floats a, b;
  for (std::size_t i = 0; i < n; i += width) {
    load(x + i, a);
    load(y + i, b);
    store(x + i, a * b);
  }
}

/// Computes the gradients d of a block's scores from those of the weights that `p` becomes: its
/// probabilities after dropout. Rows are `keys` apart. Adds to the gradient of the bias, if there
/// is one. `slopes` are those of capped scores, or null.
template <std::size_t width, class T>
SEQTRAIN_INLINE void score_gradients(const AttentionHead<T>& head, const QueryBlock& block,
                                     std::size_t keys, const float* slopes, float* p, float* d) {
  for (std::size_t row = 0; row < block.queries; ++row) {
    score_gradient<width>(p + row * keys, d + row * keys, keys, head.dropout,
                          dropout_index(head, block, row));
    if (head.d_bias == nullptr) continue;
    const std::size_t place = block.first + row - block.first_key;
    add_row<width>(d + row * keys, block.keys, head.d_bias - static_cast<std::ptrdiff_t>(place));
  }
  if (slopes != nullptr) multiply_numbers<width>(d, slopes, block.queries * keys);
}

/// Computes the backward pass of `attend` for all heads with the keys of `head`, of which `head` is
/// the first. `d_out` [queries, size] is the gradient with respect to its result, with rows
/// `ld_out` apart. Writes the gradients with respect to q, k and v, with rows `head.ld` apart,
/// which may overwrite q, k and v. Rows of d_q after the queries are not written.
template <class T>
void attend_backward(const AttentionHead<T>& head, const T* d_out, std::size_t ld_out, T* d_q,
                     T* d_k, T* d_v, AttentionScratch memory) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    const float scale = head.scale();
    const std::size_t size = round_to_lanes(head.size);
    AttentionScratch rest = memory;
    float* const k_sums = rest.take(round_to_lanes(head.length) * size);
    float* const v_sums = rest.take(round_to_lanes(head.length) * size);
    for (std::size_t i = 0; i < head.length * size; ++i) k_sums[i] = v_sums[i] = 0;
    const auto add_block = [&](const AttentionHead<T>& one, const QueryBlock& block, const T* d_one,
                               T* d_q_one) SEQTRAIN_INLINE_LAMBDA {
      AttentionScratch scratch = rest;
      const std::size_t keys = round_to_lanes(block.keys);
      const std::size_t queries = round_to_lanes(block.queries);
      float* const q = scratch.take(queries * size);
      float* const k_transposed = scratch.take(size * keys);
      float* const v_transposed = scratch.take(size * keys);
      float* const g = scratch.take(queries * size);
      float* const k = scratch.take(keys * size);
      float* const result = scratch.take((queries > keys ? queries : keys) * size);
      float* const p = scratch.take(queries * keys);
      float* const d = scratch.take(queries * keys);
      float* const slopes = head.cap == 0 ? nullptr : scratch.take(queries * keys);
      attention_probabilities<width>(one, block, q, k_transposed, p, scratch, slopes);
      widen_transposed<width>(head.v + block.first_key * head.ld, head.ld, block.keys, head.size,
                              v_transposed);
      widen(d_one + block.first * ld_out, ld_out, block.queries, head.size, 1, g);
      widen(head.k + block.first_key * head.ld, head.ld, block.keys, head.size, scale, k);
      small_product({g, size, 1}, v_transposed, keys, d, keys, block.queries, keys, head.size);
      score_gradients<width>(one, block, keys, slopes, p, d);
      small_product({d, keys, 1}, k, size, result, size, block.queries, size, block.keys);
      if (head.vectors.any()) {
        widen(head.k + block.first_key * head.ld, head.ld, block.keys, head.size, 1, k);
        distance_scores_backward<width>(head.vectors, apart(block), head.size, scale, q, k,
                                        {d, keys, block.queries, block.keys}, result,
                                        k_sums + block.first_key * size, scratch.memory);
      }
      narrow(result, block.queries, head.size, d_q_one + block.first * head.ld, head.ld);
      small_product({d, 1, keys}, q, size, result, size, block.keys, size, block.queries);
      add_row<width>(result, block.keys * size, k_sums + block.first_key * size);
      small_product({p, 1, keys}, g, size, result, size, block.keys, size, block.queries);
      add_row<width>(result, block.keys * size, v_sums + block.first_key * size);
    };
    AttentionHead<T> one = head;
    for (std::size_t i = 0; i < head.sharing; ++i) {
      for_each_query_block(one, [&](const QueryBlock& block) SEQTRAIN_INLINE_LAMBDA {
        add_block(one, block, d_out + i * head.size, d_q + i * head.size);
      });
      one.q += head.size;
      one.first += static_cast<std::uint32_t>(head.length * head.length);
    }
    narrow(k_sums, head.length, head.size, d_k, head.ld);
    narrow(v_sums, head.length, head.size, d_v, head.ld);
  });
}

}  // namespace seqtrain::kernels
