#pragma once

#include <algorithm>
#include <cstddef>

#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/small_product.hpp>
#include <seqtrain/kernels/transpose.hpp>

namespace seqtrain::kernels {

/// One head's vectors for the distances between two tokens (He et al. 2021). Two products are added
/// to the score of query i and key j: the query times the key vector of j - i, and the key times
/// the query vector of i - j. Distance d has row `zero` + d. A pointer is null if there is no such
/// part.
struct DistanceVectors {
  const float* keys_transposed = nullptr;     ///< [size, ld]
  const float* keys = nullptr;                ///< [distances, round_to_lanes(size)]
  const float* queries_transposed = nullptr;  ///< [size, ld], scaled as attention scales queries
  const float* queries = nullptr;             ///< [distances, round_to_lanes(size)], scaled
  float* d_keys = nullptr;                    ///< like `keys`; gradients are added here
  float* d_queries = nullptr;                 ///< like `queries`
  std::size_t ld = 0;  ///< a multiple of 16, at least the number of distances + 16
  std::size_t zero = 0;

  [[nodiscard]] bool any() const {
    return keys_transposed != nullptr || queries_transposed != nullptr;
  }

  /// Returns the number of floats of memory for a block of queries and keys.
  static std::size_t floats(std::size_t queries, std::size_t keys, std::size_t size) {
    const std::size_t columns = tile_columns(std::max(queries, keys));
    return tile * columns + (columns + tile + keys + lanes) * round_to_lanes(size);
  }

  /// The number of rows that are computed at once. Their distances to all tokens of a block lie in
  /// a band that is a few columns wider than the block.
  static constexpr std::size_t tile = 16;
  /// Returns the columns of a tile's band for a block of so many tokens.
  static std::size_t tile_columns(std::size_t tokens) {
    return round_to_lanes(tokens + tile) + 2 * lanes;
  }
};

/// A block of a matrix of scores or of their gradients. Its rows are `ld` apart.
struct ScoreBlock {
  float* scores;
  std::size_t ld;
  std::size_t rows;
  std::size_t columns;
};

/// Adds a band to `count` rows of the scores from `first` on. Row i of the band begins at column
/// count - 1 - i.
template <std::size_t width>
SEQTRAIN_INLINE void add_band(const float* band, std::size_t ld_band, std::size_t first,
                              std::size_t count, const ScoreBlock& to) {
  for (std::size_t i = 0; i < count; ++i) {
    float* const scores = to.scores + (first + i) * to.ld;
    const float* const from = band + i * ld_band + (count - 1 - i);
    typename Width<width>::Floats s, b;
    for (std::size_t c = 0; c < to.ld; c += width) {
      load(scores + c, s);
      load(from + c, b);
      store(scores + c, s + b);
    }
  }
}

/// Adds a band to columns of the scores, as `add_band` does to rows.
template <std::size_t width>
SEQTRAIN_INLINE void add_transposed_band(const float* band, std::size_t ld_band, std::size_t first,
                                         std::size_t count, const ScoreBlock& to) {
  using Floats = typename Width<width>::Floats;
  Floats block[width], s;
  for (std::size_t row = 0; row < to.rows; row += width) {
    for (std::size_t c = 0; c < count; c += width) {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) {
        block[i] = Floats{};
        if (c + i < count) load(band + (c + i) * ld_band + (count - 1 - c - i) + row, block[i]);
      }
      transpose<width>(block);
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) {
        if (row + i >= to.rows) continue;
        float* const scores = to.scores + (row + i) * to.ld + first + c;
        load(scores, s);
        store(scores, s + block[i]);
      }
    }
  }
}

/// Fills a band with rows of the scores, and with zeros beside them.
template <std::size_t width>
SEQTRAIN_INLINE void take_band(const ScoreBlock& from, std::size_t first, std::size_t count,
                               float* band, std::size_t ld_band) {
  for (std::size_t i = 0; i < count * ld_band; ++i) band[i] = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float* const scores = from.scores + (first + i) * from.ld;
    float* const to = band + i * ld_band + (count - 1 - i);
    for (std::size_t c = 0; c < from.columns; ++c) to[c] = scores[c];
  }
}

/// Fills a band with columns of the scores, as `take_band` does with rows.
template <std::size_t width>
SEQTRAIN_INLINE void take_transposed_band(const ScoreBlock& from, std::size_t first,
                                          std::size_t count, float* band, std::size_t ld_band) {
  using Floats = typename Width<width>::Floats;
  Floats block[width];
  for (std::size_t i = 0; i < count * ld_band; ++i) band[i] = 0;
  for (std::size_t row = 0; row < from.rows; row += width) {
    for (std::size_t c = 0; c < count; c += width) {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) {
        block[i] = Floats{};
        if (row + i < from.rows) load(from.scores + (row + i) * from.ld + first + c, block[i]);
      }
      transpose<width>(block);
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) {
        if (c + i < count) store(band + (c + i) * ld_band + (count - 1 - c - i) + row, block[i]);
      }
    }
  }
}

/// Calls use(first, count) for each tile of some rows.
template <class Use>
SEQTRAIN_INLINE void for_each_tile(std::size_t rows, const Use& use) {
  for (std::size_t first = 0; first < rows; first += DistanceVectors::tile) {
    use(first, std::min(DistanceVectors::tile, rows - first));
  }
}

/// Adds the scores of distances to `to`. `apart` is the position of its key 0 minus the position of
/// its query 0. `q` are the scaled queries, `k` the keys, both [rows, round_to_lanes(size)].
template <std::size_t width>
SEQTRAIN_INLINE void add_distance_scores(const DistanceVectors& vectors, std::ptrdiff_t apart,
                                         std::size_t size, const float* q, const float* k,
                                         const ScoreBlock& to, float* memory) {
  const std::size_t ld = DistanceVectors::tile_columns(std::max(to.rows, to.columns));
  const std::size_t wide = round_to_lanes(size);
  const auto row_of = [&](std::ptrdiff_t distance) SEQTRAIN_INLINE_LAMBDA {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(vectors.zero) + distance);
  };
  if (vectors.keys_transposed != nullptr) {
    for_each_tile(to.rows, [&](std::size_t first, std::size_t count) SEQTRAIN_INLINE_LAMBDA {
      const std::size_t row = row_of(apart - static_cast<std::ptrdiff_t>(first + count - 1));
      small_product({q + first * wide, wide, 1}, vectors.keys_transposed + row, vectors.ld, memory,
                    ld, count, round_to_lanes(to.columns + count), size);
      add_band<width>(memory, ld, first, count, to);
    });
  }
  if (vectors.queries_transposed != nullptr) {
    for_each_tile(to.columns, [&](std::size_t first, std::size_t count) SEQTRAIN_INLINE_LAMBDA {
      const std::size_t row = row_of(-apart - static_cast<std::ptrdiff_t>(first + count - 1));
      small_product({k + first * wide, wide, 1}, vectors.queries_transposed + row, vectors.ld,
                    memory, ld, count, round_to_lanes(to.rows + count), size);
      add_transposed_band<width>(memory, ld, first, count, to);
    });
  }
}

/// Computes the backward pass of `add_distance_scores`, given the scores' gradient `d`. Adds
/// `scale` times the gradient of the scaled queries to `d_q` and the gradient of the keys to `d_k`,
/// both [rows, round_to_lanes(size)]. Also adds to the gradients of the vectors.
template <std::size_t width>
SEQTRAIN_INLINE void distance_scores_backward(const DistanceVectors& vectors, std::ptrdiff_t apart,
                                              std::size_t size, float scale, const float* q,
                                              const float* k, const ScoreBlock& d, float* d_q,
                                              float* d_k, float* memory) {
  const std::size_t ld = DistanceVectors::tile_columns(std::max(d.rows, d.columns));
  const std::size_t wide = round_to_lanes(size);
  float* const band = memory;
  float* const product = memory + DistanceVectors::tile * ld;
  const auto row_of = [&](std::ptrdiff_t distance) SEQTRAIN_INLINE_LAMBDA {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(vectors.zero) + distance);
  };
  const auto add = [&](const float* from, std::size_t rows, float factor, float* to)
                       SEQTRAIN_INLINE_LAMBDA {
                         typename Width<width>::Floats s, p;
                         for (std::size_t i = 0; i < rows * wide; i += width) {
                           load(to + i, s);
                           load(from + i, p);
                           store(to + i, s + p * factor);
                         }
                       };
  if (vectors.keys != nullptr) {
    for_each_tile(d.rows, [&](std::size_t first, std::size_t count) SEQTRAIN_INLINE_LAMBDA {
      const std::size_t row = row_of(apart - static_cast<std::ptrdiff_t>(first + count - 1));
      const std::size_t columns = d.columns + count - 1;
      take_band<width>(d, first, count, band, ld);
      small_product({band, ld, 1}, vectors.keys + row * wide, wide, product, wide, count, wide,
                    columns);
      add(product, count, scale, d_q + first * wide);
      small_product({band, 1, ld}, q + first * wide, wide, product, wide, columns, wide, count);
      add(product, columns, 1, vectors.d_keys + row * wide);
    });
  }
  if (vectors.queries != nullptr) {
    for_each_tile(d.columns, [&](std::size_t first, std::size_t count) SEQTRAIN_INLINE_LAMBDA {
      const std::size_t row = row_of(-apart - static_cast<std::ptrdiff_t>(first + count - 1));
      const std::size_t columns = d.rows + count - 1;
      take_transposed_band<width>(d, first, count, band, ld);
      small_product({band, ld, 1}, vectors.queries + row * wide, wide, product, wide, count, wide,
                    columns);
      add(product, count, 1, d_k + first * wide);
      small_product({band, 1, ld}, k + first * wide, wide, product, wide, columns, wide, count);
      add(product, columns, 1, vectors.d_queries + row * wide);
    });
  }
}

}  // namespace seqtrain::kernels
