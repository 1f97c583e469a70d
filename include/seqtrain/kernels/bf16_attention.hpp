#pragma once

#include <cstddef>
#include <cstring>

#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/bf16_product.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/transpose.hpp>

namespace seqtrain::kernels {

/// Tells whether `attend_bf16` can compute heads with so many columns on this processor.
inline bool has_bf16_attention(std::size_t size) {
  return size % (2 * lanes) == 0 && has_bf16_products();
}

/// Copies `from` [rows, columns] to words of two columns each: `to` [columns / 2, out], with zeros
/// after the rows. columns is a multiple of 32, out a multiple of 16.
template <std::size_t width>
SEQTRAIN_INLINE void transpose_pairs(const Bf16* from, std::size_t ld, std::size_t rows,
                                     std::size_t columns, std::size_t out, float* to) {
  using Floats = typename Width<width>::Floats;
  Floats block[width];
  for (std::size_t row = 0; row < out; row += width) {
    for (std::size_t word = 0; word < columns / 2; word += width) {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) {
        block[i] = Floats{};
        if (row + i < rows)
          std::memcpy(&block[i], from + (row + i) * ld + 2 * word, sizeof block[i]);
      }
      transpose<width>(block);
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) store(to + (word + i) * out + row, block[i]);
    }
  }
}

/// Copies `from` [rows, columns] to words of two rows each: `to` [out / 2, columns], with zeros
/// after the rows. columns is a multiple of 16, out an even number.
template <std::size_t width>
SEQTRAIN_INLINE void interleave_rows(const Bf16* from, std::size_t ld, std::size_t rows,
                                     std::size_t columns, std::size_t out, float* to) {
  using Bits = typename Width<width>::Bits;
  typename Width<width>::Floats one, two;
  for (std::size_t row = 0; row < out; row += 2, to += columns) {
    for (std::size_t column = 0; column < columns; column += width) {
      one = two = typename Width<width>::Floats{};
      if (row < rows) load(from + row * ld + column, one);
      if (row + 1 < rows) load(from + (row + 1) * ld + column, two);
      const Bits words = reinterpret_cast<Bits>(one) >> 16 | reinterpret_cast<Bits>(two);
      std::memcpy(to + column, &words, sizeof words);
    }
  }
}

/// Computes e^(scores - their maximum) of a row of n in bfloat16, and zeros in the other places up
/// to a multiple of the vector's width. Returns 1 / the sum of the row before it is rounded.
template <std::size_t width>
SEQTRAIN_INLINE float exponentials_row(float* scores, std::size_t n, Bf16* to) {
  using Floats = typename Width<width>::Floats;
  const std::size_t last = (n - 1) / width * width;
  typename Width<width>::Ints places;
  count_up(places);
  Floats s, peaks;
  load(scores + last, peaks);
  peaks = places < static_cast<std::int32_t>(n - last) ? peaks : Floats{} - 1e30F;
  store(scores + last, peaks);
  for (std::size_t i = 0; i < last; i += width) {
    load(scores + i, s);
    peaks = s > peaks ? s : peaks;
  }
  const float peak = largest(peaks);
  Floats total = {};
  for (std::size_t i = 0; i <= last; i += width) {
    load(scores + i, s);
    s -= peak;
    exponentiate(s);
    total += s;
    store(to + i, s);
  }
  return 1 / sum(total);
}

/// Computes what `attend` computes, for heads without dropout, reach, bias and vectors, with
/// products of bfloat16 numbers: e^score is rounded to bfloat16 too. Sums are in fp32. Needs
/// `has_bf16_attention(head.size)` and an even `head.ld`.
inline void attend_bf16(const Head<Bf16>& head, Bf16* out, std::size_t ld_out,
                        AttentionScratch scratch) {
  const std::size_t length = head.length, size = head.size, keys = round_to_lanes(length);
  const std::size_t most = QueryBlock::most(length, head.reach);
  const float scale = head.scale();
  float* const k = scratch.take(size / 2 * keys);
  float* const v = scratch.take(keys / 2 * size);
  float* const scores = scratch.take(most * keys);
  auto* const weights = reinterpret_cast<Bf16*>(scratch.take(most * keys / 2));
  float* const factors = scratch.take(most);
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    transpose_pairs<width>(head.k, head.ld, length, size, keys, k);
    interleave_rows<width>(head.v, head.ld, length, size, keys, v);
  });
  for_each_query_block(head, [=](const QueryBlock& block) {
    multiply_bf16(
        head.q + block.first * head.ld, head.ld, block.queries, size, k, keys,
        [=](std::size_t row, std::size_t column, const auto& sums)
            SEQTRAIN_INLINE_LAMBDA { store(scores + row * keys + column, scale * sums); });
    vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
      for (std::size_t row = 0; row < block.queries; ++row) {
        factors[row] = exponentials_row<width>(scores + row * keys, length, weights + row * keys);
      }
    });
    Bf16* const to = out + block.first * ld_out;
    multiply_bf16(
        weights, keys, block.queries, keys, v, size,
        [=](std::size_t row, std::size_t column, const auto& sums)
            SEQTRAIN_INLINE_LAMBDA { store(to + row * ld_out + column, factors[row] * sums); });
  });
}

}  // namespace seqtrain::kernels
