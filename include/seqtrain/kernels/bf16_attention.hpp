#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/bf16_product.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/pack.hpp>
#include <seqtrain/kernels/tile_product.hpp>

namespace seqtrain::kernels {

/// Tells whether `attend_bf16` and `attend_bf16_backward` multiply bfloat16 numbers in heads with
/// so many columns on this processor.
inline bool has_bf16_attention(std::size_t size) {
  return size % (2 * lanes) == 0 && has_bf16_products();
}

namespace detail {

/// The products of one block of queries, with matrices in a thread's memory. Rows of zeros fill up
/// queries and keys.
class Bf16Block {
 public:
  Bf16Block(const AttentionHead<Bf16>& head, const QueryBlock& block, AttentionScratch memory)
      : head_{head}, block_{block}, memory_{memory} {}

  /// Returns the number of keys in a row of scores.
  [[nodiscard]] std::size_t keys() const {
    return round_up(block_.keys, head_.by_tiles ? 2 * lanes : lanes);
  }
  /// Returns how far rows of scores lie apart: not by a power of two, whose multiples would share
  /// few places of a cache.
  [[nodiscard]] std::size_t ld() const { return keys() + 2 * lanes; }
  /// Returns the number of rows in a matrix of queries.
  [[nodiscard]] std::size_t queries() const { return round_up(block_.queries, 2 * lanes); }
  [[nodiscard]] AttentionScratch rest() const { return memory_; }

  float* take(std::size_t count) { return memory_.take(count); }
  Bf16* take_bf16(std::size_t count) { return reinterpret_cast<Bf16*>(take(count / 2)); }

  /// Copies the rows of the block's queries from a matrix whose rows are `ld` apart.
  Bf16* rows_of_queries(const Bf16* from, std::size_t ld) {
    return copy(from + block_.first * ld, ld, block_.queries, queries());
  }
  /// Copies the rows of the block's keys from `head.k` or `head.v`.
  Bf16* rows_of_keys(const Bf16* from) {
    return copy(from + block_.first_key * head_.ld, head_.ld, block_.keys, keys());
  }
  /// Packs the matrix [rows, size] as the second factor of a product.
  Bf16* pack(const Bf16* rows, std::size_t count) {
    Bf16* const packed = take_bf16(count * head_.size);
    pack_panel(rows, head_.size, count, head_.size, packed);
    return packed;
  }
  /// Packs the transpose of the matrix [rows, size].
  Bf16* pack_transposed(const Bf16* rows, std::size_t count) {
    Bf16* const packed = take_bf16(count * head_.size);
    pack_transposed_panel(rows, head_.size, head_.size, count, packed);
    return packed;
  }

  /// Computes c [rows, columns] = a [rows, k] b. There must be memory for a multiple of 16 rows,
  /// and zeros up to a multiple of 32 columns of a.
  void multiply(const Bf16* a, std::size_t ld, std::size_t rows, std::size_t k, const Bf16* b,
                std::size_t columns, float* c, std::size_t ld_c) const {
#if SEQTRAIN_HAS_CLONES
    if (head_.by_tiles) {
      return tile::multiply(round_to_lanes(rows), round_up(k, 2 * lanes), a, ld, b, columns, c,
                            ld_c, false);
    }
#endif
    multiply_bf16(a, ld, rows, round_up(k, 2), b, columns, c, ld_c);
  }

  /// Computes q k^T [queries, keys] of the block's rows.
  float* scores(const Bf16* q, const Bf16* k) {
    float* const scores = take(queries() * ld());
    multiply(q, head_.size, block_.queries, head_.size, pack_transposed(k, keys()), keys(), scores,
             ld());
    return scores;
  }

 private:
  Bf16* copy(const Bf16* from, std::size_t ld, std::size_t rows, std::size_t all) {
    const std::size_t words = head_.size / 2;
    Bf16* const to = take_bf16(all * head_.size);
    for_each_vector(all, words, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
      typename decltype(at)::Bits numbers{};
      if (at.row < rows) std::memcpy(&numbers, from + at.row * ld + 2 * at.column, sizeof numbers);
      std::memcpy(to + 2 * (at.row * words + at.column), &numbers, sizeof numbers);
    });
    return to;
  }

  const AttentionHead<Bf16>& head_;
  const QueryBlock& block_;
  AttentionScratch memory_;
};

/// Computes 2^x with a relative error of 3e-6, for x of at most 127. Below -100 the result is
/// 2^-100, whose products are no subnormal numbers: those are slow.
template <class Floats>
SEQTRAIN_INLINE void power_of_two(Floats& x) {
  using Bits = typename WidthOf<Floats>::Bits;
  constexpr float round = 12582912.0F;  // 1.5 * 2^23: adding it leaves an integer in the low bits
  const Floats clamped = x < -100.0F ? Floats{} - 100.0F : x;
  const Floats whole = clamped + round;
  const Floats r = clamped - (whole - round);
  // The polynomial of degree 4 with the least relative error from -1/2 to 1/2.
  const Floats p =
      0.9999993F + r * (0.6931218F + r * (0.24024744F + r * (0.05591786F + r * 0.009570101F)));
  x = reinterpret_cast<Floats>(reinterpret_cast<Bits>(p) + (reinterpret_cast<Bits>(whole) << 23));
}

/// Computes e^(scale · (scores - their maximum)) of the scores from `begin` to `end`, after
/// dropout, and zeros in the other places of a row of n. n is a multiple of 16. Returns 1 / the sum
/// of the row before dropout and rounding. `to` may be `scores`.
template <std::size_t width, class T>
SEQTRAIN_INLINE float exponentials_row(float* scores, std::size_t begin, std::size_t end,
                                       std::size_t n, float scale, const HashDropout& dropout,
                                       std::uint32_t index, T* to) {
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
  const float factor = 1.44269504F * scale, peak = factor * largest(peaks);
  Floats total = {};
  for (std::size_t i = 0; i < first; i += width) store(to + i, Floats{});
  for (std::size_t i = last + width; i < n; i += width) store(to + i, Floats{});
  for (std::size_t i = first; i <= last; i += width) {
    load(scores + i, s);
    s = factor * s - peak;
    power_of_two(s);
    if (i == first) s = places < static_cast<std::int32_t>(begin - first) ? Floats{} : s;
    if (i == last) s = places < static_cast<std::int32_t>(end - last) ? s : Floats{};
    total += s;
    dropout.apply(index + static_cast<std::uint32_t>(i), s);
    store(to + i, s);
  }
  return 1 / sum(total);
}

/// Multiplies `count` numbers, a multiple of 16.
template <std::size_t width, class T>
SEQTRAIN_INLINE void multiply_row(const float* from, float factor, std::size_t count, T* to) {
  typename Width<width>::Floats numbers;
  for (std::size_t i = 0; i < count; i += width) {
    load(from + i, numbers);
    store(to + i, factor * numbers);
  }
}

}  // namespace detail

/// Computes what `attend` computes. If `has_bf16_attention(head.size)` and scores have no cap, it
/// multiplies queries, keys and values as bfloat16 numbers, with sums in fp32, and rounds e^score
/// to bfloat16 too.
inline void attend_bf16(const AttentionHead<Bf16>& head, Bf16* out, std::size_t ld_out,
                        AttentionScratch memory) {
  const std::size_t size = head.size;
  if (!has_bf16_attention(size) || head.cap != 0) return attend(head, out, ld_out, memory);
  for_each_query_block(head, [&](const QueryBlock& block) {
    detail::Bf16Block matrices{head, block, memory};
    const std::size_t keys = matrices.keys(), queries = matrices.queries(), ld = matrices.ld();
    float* const scores =
        matrices.scores(matrices.rows_of_queries(head.q, head.ld), matrices.rows_of_keys(head.k));
    const Bf16* const v = matrices.pack(matrices.rows_of_keys(head.v), keys);
    Bf16* const weights = matrices.take_bf16(queries * ld);
    float* const factors = matrices.take(queries);
    float* const sums = matrices.take(queries * size);
    const AttentionScratch scratch = matrices.rest();
    vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
      float scale = head.scale();
      if (head.vectors.any() || head.bias != nullptr) {
        detail::multiply_row<width>(scores, scale, block.queries * ld, scores);
        scale = 1;
      }
      if (head.vectors.any()) {
        AttentionScratch rest = scratch;
        float* const wide_q = rest.take(queries * size);
        float* const wide_k = rest.take(keys * size);
        widen(head.q + block.first * head.ld, head.ld, block.queries, size, head.scale(), wide_q);
        widen(head.k + block.first_key * head.ld, head.ld, block.keys, size, 1, wide_k);
        add_distance_scores<width>(head.vectors, apart(block), size, wide_q, wide_k,
                                   {scores, ld, block.queries, block.keys}, rest.memory);
      }
      for (std::size_t row = 0; row < block.queries; ++row) {
        float* const of_row = scores + row * ld;
        const KeysOfQuery of{head, block, row};
        if (head.bias != nullptr) {
          add_row<width>(head.bias - static_cast<std::ptrdiff_t>(of.place), block.keys, of_row);
        }
        factors[row] =
            detail::exponentials_row<width>(of_row, of.begin, of.end, keys, scale, head.dropout,
                                            dropout_index(head, block, row), weights + row * ld);
      }
    });
    matrices.multiply(weights, ld, block.queries, block.keys, v, size, sums, size);
    Bf16* const to = out + block.first * ld_out;
    const std::size_t rows = block.queries;
    vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
      for (std::size_t row = 0; row < rows; ++row) {
        detail::multiply_row<width>(sums + row * size, factors[row], size, to + row * ld_out);
      }
    });
  });
}

}  // namespace seqtrain::kernels
