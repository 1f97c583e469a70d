#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/bf16_product.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/pack.hpp>

namespace seqtrain::kernels {

/// Tells whether `attend_bf16` multiplies bfloat16 numbers in heads with so many columns on this
/// processor.
inline bool has_bf16_attention(std::size_t size) {
  return size % (2 * lanes) == 0 && has_bf16_products();
}

namespace detail {

/// Copies `from` [rows, columns], whose rows are `ld` apart, to `to` [all, columns], with zeros
/// after the rows.
inline void copy_rows(const Bf16* from, std::size_t ld, std::size_t rows, std::size_t columns,
                      std::size_t all, Bf16* to) {
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy_n(from + row * ld, columns, to + row * columns);
  }
  std::fill_n(to + rows * columns, (all - rows) * columns, Bf16{});
}

/// Computes e^(scores - their maximum) of the scores from `begin` to `end` in bfloat16, and zeros
/// in the other places of a row of n. n is a multiple of 16. Returns 1 / the sum of the row before
/// it is rounded.
template <std::size_t width>
SEQTRAIN_INLINE float exponentials_row(float* scores, std::size_t begin, std::size_t end,
                                       std::size_t n, Bf16* to) {
  using Floats = typename Width<width>::Floats;
  const std::size_t first = begin / width * width, last = (end - 1) / width * width;
  typename Width<width>::Ints places;
  count_up(places);
  Floats s, peaks;
  load(scores + first, s);
  s = places < static_cast<std::int32_t>(begin - first) ? Floats{} - 1e30F : s;
  store(scores + first, s);
  load(scores + last, peaks);
  peaks = places < static_cast<std::int32_t>(end - last) ? peaks : Floats{} - 1e30F;
  store(scores + last, peaks);
  for (std::size_t i = first; i < last; i += width) {
    load(scores + i, s);
    peaks = s > peaks ? s : peaks;
  }
  const float peak = largest(peaks);
  Floats total = {};
  for (std::size_t i = 0; i < first; i += width) store(to + i, Floats{});
  for (std::size_t i = last + width; i < n; i += width) store(to + i, Floats{});
  for (std::size_t i = first; i <= last; i += width) {
    load(scores + i, s);
    s -= peak;
    exponentiate(s);
    total += s;
    store(to + i, s);
  }
  return 1 / sum(total);
}

}  // namespace detail

/// Computes what `attend` computes, for heads without dropout. If `has_bf16_attention(head.size)`,
/// it multiplies queries, keys and values as bfloat16 numbers, with sums in fp32, and rounds
/// e^score to bfloat16 too. `head.ld` must be even.
inline void attend_bf16(const Head<Bf16>& head, Bf16* out, std::size_t ld_out,
                        AttentionScratch memory) {
  const std::size_t size = head.size;
  if (!has_bf16_attention(size)) return attend(head, out, ld_out, memory);
  const float scale = head.scale();
  for_each_query_block(head, [=](const QueryBlock& block) {
    AttentionScratch scratch = memory;
    const auto take = [&](std::size_t count) {
      return reinterpret_cast<Bf16*>(scratch.take(count / 2));
    };
    const std::size_t keys = round_to_lanes(block.keys);
    const std::size_t queries = round_to_lanes(block.queries);
    Bf16* const rows = take(keys * size);
    Bf16* const k = take(keys * size);
    Bf16* const v = take(keys * size);
    Bf16* const weights = take(queries * keys);
    float* const scores = scratch.take(queries * keys);
    float* const factors = scratch.take(queries);
    detail::copy_rows(head.k + block.first_key * head.ld, head.ld, block.keys, size, keys, rows);
    pack_transposed_panel(rows, size, size, keys, k);
    detail::copy_rows(head.v + block.first_key * head.ld, head.ld, block.keys, size, keys, rows);
    pack_panel(rows, size, keys, size, v);
    multiply_bf16(
        head.q + block.first * head.ld, head.ld, block.queries, size, k, keys,
        [=](std::size_t row, std::size_t column, const auto& sums)
            SEQTRAIN_INLINE_LAMBDA { store(scores + row * keys + column, scale * sums); });
    vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
      if (head.vectors.any()) {
        AttentionScratch rest = scratch;
        float* const wide_q = rest.take(queries * size);
        float* const wide_k = rest.take(keys * size);
        widen(head.q + block.first * head.ld, head.ld, block.queries, size, scale, wide_q);
        widen(head.k + block.first_key * head.ld, head.ld, block.keys, size, 1, wide_k);
        add_distance_scores<width>(head.vectors, apart(block), size, wide_q, wide_k,
                                   {scores, keys, block.queries, block.keys}, rest.memory);
      }
      for (std::size_t row = 0; row < block.queries; ++row) {
        float* const of_row = scores + row * keys;
        const KeysOfQuery of{block, row, head.reach};
        if (head.bias != nullptr) {
          add_row<width>(head.bias - static_cast<std::ptrdiff_t>(of.place), block.keys, of_row);
        }
        factors[row] =
            detail::exponentials_row<width>(of_row, of.begin, of.end, keys, weights + row * keys);
      }
    });
    Bf16* const to = out + block.first * ld_out;
    multiply_bf16<2 * lanes>(
        weights, keys, block.queries, keys, v, size,
        [=](std::size_t row, std::size_t column, const auto& sums)
            SEQTRAIN_INLINE_LAMBDA { store(to + row * ld_out + column, factors[row] * sums); });
  });
}

}  // namespace seqtrain::kernels
