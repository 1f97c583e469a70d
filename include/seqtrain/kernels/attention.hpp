#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/distance_scores.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/small_product.hpp>
#include <seqtrain/kernels/transpose.hpp>

namespace seqtrain::kernels {

/// The sliding window of queries that attend to all keys.
inline constexpr std::size_t no_sliding_window = std::numeric_limits<std::size_t>::max();

/// Returns the factor of the scores of a head with `size` columns, each the sum of `parts`
/// products.
SEQTRAIN_INLINE float attention_scale(std::size_t parts, std::size_t size) {
  return 1 / __builtin_sqrtf(static_cast<float>(parts * size));
}

/// One head of attention over one sequence. Rows of q, k and v are `ld` apart.
template <class T>
struct AttentionHead {
  const T* q;
  const T* k;
  const T* v;
  std::size_t ld;
  std::size_t queries;  ///< number of queries, which are the first tokens
  std::size_t length;   ///< number of keys and values
  std::size_t size;     ///< columns of the head
  HashDropout dropout = {};
  /// The dropout's index of (query 0, key 0); the next query's is `length` higher.
  std::uint32_t first = 0;
  std::size_t sliding_window = no_sliding_window;  ///< distance of the farthest key of a query
  const float* bias = nullptr;  ///< added to the score of query i and key j: bias[j - i]
  float* d_bias = nullptr;      ///< the gradient of `bias` is added here
  DistanceVectors vectors = {};
  std::size_t parts = 1;  ///< number of products in a score
  float factor = 0;       ///< factor of scores; 0 for `attention_scale`
  float cap = 0;          ///< scores stay below it, by tanh; 0 if they may be of any size
  bool causal = false;    ///< a query attends to no later key
  /// The number of heads with the same keys and values: `attend_backward` computes all of them. The
  /// columns of the next one's queries and results come after those of the one before, and its
  /// index of dropout is `length` squared higher.
  std::size_t sharing = 1;
  bool by_tiles = false;  ///< true if `attend_bf16` uses the processor's tiles (AMX)

  [[nodiscard]] float scale() const { return factor == 0 ? attention_scale(parts, size) : factor; }
  /// Returns the distance of the farthest later key of a query.
  [[nodiscard]] std::size_t window_of_later_keys() const { return causal ? 0 : sliding_window; }
};

/// Some consecutive queries of a head and the keys that they attend to. Numbers are positions in
/// the sequence.
struct QueryBlock {
  std::size_t first;  ///< first query
  std::size_t queries;
  std::size_t first_key;
  std::size_t keys;

  /// Returns the largest number of queries in a block. With fewer queries, fewer of the block's
  /// keys are outside the window of some of its queries; with more, keys are converted less often.
  static std::size_t most(std::size_t length, std::size_t sliding_window) {
    return std::min<std::size_t>(length, sliding_window < 512 ? 64 : 256);
  }
};

/// Returns the position of a block's first key minus the position of its first query.
SEQTRAIN_INLINE std::ptrdiff_t apart(const QueryBlock& block) {
  return static_cast<std::ptrdiff_t>(block.first_key) - static_cast<std::ptrdiff_t>(block.first);
}

/// The keys that a query of a block attends to, as numbers from the block's first key on.
struct KeysOfQuery {
  std::size_t place;  ///< the query's own number
  std::size_t begin;
  std::size_t end;

  template <class T>
  SEQTRAIN_INLINE KeysOfQuery(const AttentionHead<T>& head, const QueryBlock& block,
                              std::size_t row)
      : place{block.first + row - block.first_key},
        begin{place > head.sliding_window ? place - head.sliding_window : 0},
        end{block.keys} {
    const std::size_t later = head.window_of_later_keys();
    if (later < block.keys) end = std::min(end, place + later + 1);
  }
};

/// Calls use(block) for each block of a head's queries.
template <class T, class Use>
SEQTRAIN_INLINE void for_each_query_block(const AttentionHead<T>& head, const Use& use) {
  const std::size_t most = QueryBlock::most(head.length, head.sliding_window);
  const std::size_t sliding_window = std::min(head.sliding_window, head.length);
  for (std::size_t first = 0; first < head.queries; first += most) {
    const std::size_t queries = std::min(most, head.queries - first);
    const std::size_t first_key = first > sliding_window ? first - sliding_window : 0;
    const std::size_t later = std::min(head.window_of_later_keys(), head.length);
    const std::size_t end = std::min(head.length, first + queries + later);
    use(QueryBlock{first, queries, first_key, end - first_key});
  }
}

/// A thread's memory for `attend` and `attend_backward`, aligned to 64 bytes.
struct AttentionScratch {
  /// Returns the number of floats needed for sequences of at most that length, with or without
  /// vectors for distances.
  static std::size_t floats(std::size_t length, std::size_t size,
                            std::size_t sliding_window = no_sliding_window,
                            bool with_vectors = false) {
    const std::size_t queries = QueryBlock::most(length, sliding_window);
    const std::size_t keys =
        sliding_window < length ? std::min(length, queries + 2 * sliding_window) : length;
    const std::size_t d = round_to_lanes(size);
    // In products of bfloat16 rows are up to a multiple of 32, and 32 numbers more lie between
    // them.
    const std::size_t b = round_to_lanes(queries) + lanes;
    const std::size_t k = round_to_lanes(keys) + 3 * lanes;
    return 3 * b * k + (3 * b + 4 * k + 2 * round_to_lanes(length)) * d +
           (with_vectors ? DistanceVectors::floats(b, k, size) : 0);
  }
  float* memory;

  /// Returns the next `count` floats of the memory.
  float* take(std::size_t count) {
    float* const taken = memory;
    memory += count;
    return taken;
  }
};

/// Computes the matrix `to` [rows, round_to_lanes(columns)] = scale * `from`, with zeros after the
/// columns.
template <class T>
SEQTRAIN_INLINE void widen(const T* from, std::size_t ld, std::size_t rows, std::size_t columns,
                           float scale, float* to) {
  const std::size_t width = round_to_lanes(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns; ++i)
      to[row * width + i] = scale * to_float(from[row * ld + i]);
    for (std::size_t i = columns; i < width; ++i) to[row * width + i] = 0;
  }
}

/// Computes the matrix `to` [columns, round_to_lanes(rows)] = `from` transposed, with zeros after
/// the rows.
template <std::size_t width, class T>
SEQTRAIN_INLINE void widen_transposed(const T* from, std::size_t ld, std::size_t rows,
                                      std::size_t columns, float* to) {
  const std::size_t out = round_to_lanes(rows);
  using Floats = typename Width<width>::Floats;
  Floats block[width];
  for (std::size_t row = 0; row < out; row += width) {
    std::size_t column = 0;
    for (; column + width <= columns; column += width) {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) {
        block[i] = Floats{};
        if (row + i < rows) load(from + (row + i) * ld + column, block[i]);
      }
      transpose<width>(block);
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) store(to + (column + i) * out + row, block[i]);
    }
    for (; column < columns; ++column) {
      for (std::size_t i = row; i < row + width; ++i) {
        to[column * out + i] = i < rows ? to_float(from[i * ld + column]) : 0;
      }
    }
  }
}

/// Computes the softmax of the scores from `begin` to `end` of a row of n, in place, and zeros in
/// the other places up to a multiple of the vector's width.
template <std::size_t width>
SEQTRAIN_INLINE void softmax_row(float* scores, std::size_t begin, std::size_t end, std::size_t n) {
  using Floats = typename Width<width>::Floats;
  const std::size_t all = round_to_lanes(n);
  const std::size_t first = begin / width * width;
  const std::size_t last = (end + width - 1) / width * width;
  typename Width<width>::Ints places;
  count_up(places);
  const auto load_scores = [&](std::size_t i, Floats& s) SEQTRAIN_INLINE_LAMBDA {
    load(scores + i, s);
    s = places < static_cast<std::int32_t>(end - i) ? s : Floats{} - 1e30F;
    if (i < begin) s = places < static_cast<std::int32_t>(begin - i) ? Floats{} - 1e30F : s;
  };
  Floats peaks, s, total = {};
  load_scores(first, peaks);
  for (std::size_t i = first + width; i < last; i += width) {
    load_scores(i, s);
    peaks = s > peaks ? s : peaks;
  }
  const float peak = largest(peaks);
  for (std::size_t i = first; i < last; i += width) {
    load_scores(i, s);
    s -= peak;
    exponentiate(s);
    total += s;
    store(scores + i, s);
  }
  const float inverse = 1 / sum(total);
  for (std::size_t i = first; i < last; i += width) {
    load(scores + i, s);
    store(scores + i, s * inverse);
  }
  for (std::size_t i = 0; i < first; i += width) store(scores + i, Floats{});
  for (std::size_t i = last; i < all; i += width) store(scores + i, Floats{});
}

/// Bounds n scores s, which become cap tanh(s / cap), and writes their slopes unless these are
/// null. n must be a multiple of 16.
template <std::size_t width>
SEQTRAIN_INLINE void cap_scores(float cap, std::size_t n, float* scores, float* slopes) {
  typename Width<width>::Floats s;
  for (std::size_t i = 0; i < n; i += width) {
    load(scores + i, s);
    s /= cap;
    const auto size = s < 0 ? -s : s;
    auto e = -2 * size;
    exponentiate(e);
    const auto square = s * s;
    const auto series =  // near 0, where 1 - e has few digits
        size * (1 - square * (1.0F / 3 - square * (2.0F / 15 - square * (17.0F / 315))));
    const auto bounded = size < 0.15F ? series : (1 - e) / (1 + e);
    store(scores + i, (s < 0 ? -bounded : bounded) * cap);
    if (slopes != nullptr) store(slopes + i, 1 - bounded * bounded);
  }
}

/// Adds bias[0], bias[1], … to a row of n scores.
template <std::size_t width>
SEQTRAIN_INLINE void add_row(const float* bias, std::size_t n, float* scores) {
  typename Width<width>::Floats s, b;
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    load(scores + i, s);
    load(bias + i, b);
    store(scores + i, s + b);
  }
  for (; i < n; ++i) scores[i] += bias[i];
}

/// Computes probabilities [queries, round_to_lanes(keys)] = softmax(scores) of a block. Leaves its
/// scaled queries in `q` and its keys in `k_transposed`, and the slopes of capped scores in
/// `slopes` unless that is null. `scratch` is needed with vectors for distances.
template <std::size_t width, class T>
SEQTRAIN_INLINE void attention_probabilities(const AttentionHead<T>& head, const QueryBlock& block,
                                             float* q, float* k_transposed, float* probabilities,
                                             AttentionScratch scratch, float* slopes = nullptr) {
  const std::size_t ld = round_to_lanes(block.keys);
  widen(head.q + block.first * head.ld, head.ld, block.queries, head.size, head.scale(), q);
  widen_transposed<width>(head.k + block.first_key * head.ld, head.ld, block.keys, head.size,
                          k_transposed);
  small_product({q, round_to_lanes(head.size), 1}, k_transposed, ld, probabilities, ld,
                block.queries, ld, head.size);
  if (head.vectors.any()) {
    float* const k = scratch.take(ld * round_to_lanes(head.size));
    widen(head.k + block.first_key * head.ld, head.ld, block.keys, head.size, 1, k);
    add_distance_scores<width>(head.vectors, apart(block), head.size, q, k,
                               {probabilities, ld, block.queries, block.keys}, scratch.memory);
  }
  if (head.cap != 0) cap_scores<width>(head.cap, block.queries * ld, probabilities, slopes);
  for (std::size_t row = 0; row < block.queries; ++row) {
    float* const scores = probabilities + row * ld;
    const KeysOfQuery of{head, block, row};
    if (head.bias != nullptr) {
      add_row<width>(head.bias - static_cast<std::ptrdiff_t>(of.place), block.keys, scores);
    }
    softmax_row<width>(scores, of.begin, of.end, block.keys);
  }
}

/// Returns the dropout's index of a block's first key and the query `row`, which is counted from
/// the block's first query.
template <class T>
SEQTRAIN_INLINE std::uint32_t dropout_index(const AttentionHead<T>& head, const QueryBlock& block,
                                            std::size_t row) {
  return head.first +
         static_cast<std::uint32_t>((block.first + row) * head.length + block.first_key);
}

/// Rounds `from` [rows, round_to_lanes(columns)] to T and writes it to `to` [rows, columns], whose
/// rows are `ld` apart.
template <class T>
SEQTRAIN_INLINE void narrow(const float* from, std::size_t rows, std::size_t columns, T* to,
                            std::size_t ld) {
  const std::size_t width = round_to_lanes(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < columns; ++i) {
      to[row * ld + i] = from_float<T>(from[row * width + i]);
    }
  }
}

/// Computes out [queries, size] = dropout(softmax(q k^T scale + bias)) v with rows `ld_out` apart,
/// where a query attends to the keys within its window and `vectors` add to the scores.
template <class T>
void attend(const AttentionHead<T>& head, T* out, std::size_t ld_out, AttentionScratch memory) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    const std::size_t size = round_to_lanes(head.size);
    for_each_query_block(head, [&](const QueryBlock& block) SEQTRAIN_INLINE_LAMBDA {
      AttentionScratch scratch = memory;
      const std::size_t keys = round_to_lanes(block.keys);
      const std::size_t queries = round_to_lanes(block.queries);
      float* const q = scratch.take(queries * size);
      float* const k = scratch.take(size * keys);
      float* const v = scratch.take(keys * size);
      float* const result = scratch.take(queries * size);
      float* const p = scratch.take(queries * keys);
      attention_probabilities<width>(head, block, q, k, p, scratch);
      for (std::size_t row = 0; row < block.queries; ++row) {
        const std::uint32_t index = dropout_index(head, block, row);
        for (std::size_t i = 0; i < keys; i += width) {
          typename Width<width>::Floats kept;
          load(p + row * keys + i, kept);
          head.dropout.apply(index + static_cast<std::uint32_t>(i), kept);
          store(p + row * keys + i, kept);
        }
      }
      widen(head.v + block.first_key * head.ld, head.ld, block.keys, head.size, 1, v);
      small_product({p, keys, 1}, v, size, result, size, block.queries, size, block.keys);
      narrow(result, block.queries, head.size, out + block.first * ld_out, ld_out);
    });
  });
}

}  // namespace seqtrain::kernels
