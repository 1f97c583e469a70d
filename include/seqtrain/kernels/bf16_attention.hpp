#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <seqtrain/kernels/attention.hpp>
#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/bf16_product.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/dot_tiles.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/transpose.hpp>

namespace seqtrain::kernels {

/// Whether `attend_in_bf16` can be used for heads of that size.
inline bool has_bf16_attention(std::size_t size) {
  return has_bf16_products() && size % 32 == 0;
}

namespace detail {

/// words [size / 2, keys] of k [length, size], rows `ld` apart; zero from `length` on. keys is a
/// multiple of 16.
template <std::size_t width>
SEQTRAIN_INLINE void pack_keys(const Bf16* k, std::size_t ld, std::size_t length, std::size_t size,
                               std::size_t keys, float* words) {
  typename Width<width>::Floats block[width];
  for (std::size_t key = 0; key < keys; key += width) {
    for (std::size_t word = 0; word < size / 2; word += width) {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) {
        block[i] = typename Width<width>::Floats{};
        if (key + i < length)
          std::memcpy(&block[i], k + (key + i) * ld + 2 * word, sizeof block[i]);
      }
      transpose<width>(block);
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) store(words + (word + i) * keys + key, block[i]);
    }
  }
}

/// words [keys / 2, size] of v [length, size], rows `ld` apart; zero from `length` on.
template <std::size_t width>
SEQTRAIN_INLINE void pack_values(const Bf16* v, std::size_t ld, std::size_t length,
                                 std::size_t size, std::size_t keys, float* words) {
  using Bits = typename Width<width>::Bits;
  typename Width<width>::Halves halves;
  for (std::size_t key = 0; key < keys; key += 2) {
    for (std::size_t column = 0; column < size; column += width) {
      Bits one = {}, other = {};
      if (key < length) {
        std::memcpy(&halves, v + key * ld + column, sizeof halves);
        one = __builtin_convertvector(halves, Bits);
      }
      if (key + 1 < length) {
        std::memcpy(&halves, v + (key + 1) * ld + column, sizeof halves);
        other = __builtin_convertvector(halves, Bits);
      }
      const Bits both = one | other << 16;
      std::memcpy(words + key / 2 * size + column, &both, sizeof both);
    }
  }
}

}  // namespace detail

/// out [queries, size] = softmax(q k^T / sqrt(size)) v, rows `ld_out` apart, by the processor's
/// products of bfloat16 numbers; the probabilities are rounded to bfloat16. The head's dropout does
/// not count. A query's result does not depend on the others.
inline void attend_in_bf16(const Head<Bf16>& head, Bf16* out, std::size_t ld_out,
                           AttentionScratch memory) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    if constexpr (width == 16) {
      using Floats = typename Width<width>::Floats;
      constexpr std::size_t block = 6;  // queries at once
      AttentionScratch scratch = memory;
      const std::size_t keys = round_to_lanes(head.length);
      const std::size_t size = head.size;
      const float scale = 1 / __builtin_sqrtf(static_cast<float>(size));
      float* const k = scratch.take(size / 2 * keys);
      float* const v = scratch.take(keys / 2 * size);
      float* const scores = scratch.take(block * keys);
      auto* const p = reinterpret_cast<Bf16*>(scratch.take(block * keys / 2));
      detail::pack_keys<width>(head.k, head.ld, head.length, size, keys, k);
      detail::pack_values<width>(head.v, head.ld, head.length, size, keys, v);
      for (std::size_t query = 0; query < head.queries; query += block) {
        const std::size_t count = std::min(block, head.queries - query);
        dot_product<dot::Bf16Pairs, Floats>(
            {head.q + query * head.ld, head.ld / 2, k, keys, size / 2}, count, keys,
            [=](std::size_t row, std::size_t column, const Floats& sums)
                SEQTRAIN_INLINE_LAMBDA { store(scores + row * keys + column, sums * scale); });
        for (std::size_t row = 0; row < count; ++row) {
          softmax_row<width>(scores + row * keys, head.length);
          Floats probabilities;
          for (std::size_t i = 0; i < keys; i += width) {
            load(scores + row * keys + i, probabilities);
            store(p + row * keys + i, probabilities);
          }
        }
        dot_product<dot::Bf16Pairs, Floats>(
            {p, keys / 2, v, size, keys / 2}, count, size,
            [=](std::size_t row, std::size_t column, const Floats& sums)
                SEQTRAIN_INLINE_LAMBDA { store(out + (query + row) * ld_out + column, sums); });
      }
    }
  });
}

}  // namespace seqtrain::kernels
