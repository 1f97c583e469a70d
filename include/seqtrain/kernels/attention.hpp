#pragma once

#include <cstddef>
#include <cstdint>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/transpose.hpp>

namespace seqtrain::kernels {

/// A small matrix whose element (i, j) is from[i * row + j * column], so that a transpose costs
/// nothing.
struct SmallFactor {
  const float* from;
  std::size_t row;
  std::size_t column;
};

/// Computes `rows` rows and `blocks` times 16 columns of the product in `small_product`.
template <std::size_t width, std::size_t rows, std::size_t blocks>
SEQTRAIN_INLINE void product_tile(const SmallFactor& a, const float* b, std::size_t ld_b, float* c,
                                  std::size_t ld_c, std::size_t k) {
  constexpr std::size_t parts = blocks * lanes / width;
  typename Width<width>::Floats line[parts], sums[rows][parts] = {};
  for (std::size_t j = 0; j < k; ++j) {
    for (std::size_t part = 0; part < parts; ++part) load(b + j * ld_b + part * width, line[part]);
    for (std::size_t i = 0; i < rows; ++i) {
      const float factor = a.from[i * a.row + j * a.column];
      for (std::size_t part = 0; part < parts; ++part) sums[i][part] += factor * line[part];
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t part = 0; part < parts; ++part) {
      store(c + i * ld_c + part * width, sums[i][part]);
    }
  }
}

/// Computes a tile of m rows of the product in `small_product`, with m at most `height`.
template <std::size_t width, std::size_t height, std::size_t blocks>
SEQTRAIN_INLINE void product_tile_of(std::size_t m, const SmallFactor& a, const float* b,
                                     std::size_t ld_b, float* c, std::size_t ld_c, std::size_t k) {
  if (m == height) return product_tile<width, height, blocks>(a, b, ld_b, c, ld_c, k);
  if constexpr (height > 1) product_tile_of<width, height - 1, blocks>(m, a, b, ld_b, c, ld_c, k);
}

/// Computes c [m, n] = a b with b [k, n], for factors as small as those of one attention head. n
/// and the strides of b and c must be multiples of 16.
inline void small_product(const SmallFactor& a, const float* b, std::size_t ld_b, float* c,
                          std::size_t ld_c, std::size_t m, std::size_t n, std::size_t k) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    // All registers hold sums, except those that the factors need.
    constexpr std::size_t height = width == 16 ? 8 : width == 8 ? 6 : 3;
    constexpr std::size_t blocks = width == 16 ? 2 : 1;
    for (std::size_t row = 0; row < m; row += height) {
      const std::size_t rows = m - row < height ? m - row : height;
      const SmallFactor from{a.from + row * a.row, a.row, a.column};
      float* const to = c + row * ld_c;
      std::size_t column = 0;
      for (; column + blocks * lanes <= n; column += blocks * lanes) {
        product_tile_of<width, height, blocks>(rows, from, b + column, ld_b, to + column, ld_c, k);
      }
      for (; column < n; column += lanes) {
        product_tile_of<width, height, 1>(rows, from, b + column, ld_b, to + column, ld_c, k);
      }
    }
  });
}

/// One head of attention over one sequence. Rows of q, k and v are `ld` apart, rows of the result
/// `ld_out`.
template <class T>
struct Head {
  const T* q;
  const T* k;
  const T* v;
  std::size_t ld;
  std::size_t queries;  ///< number of queries, which are the first tokens
  std::size_t length;   ///< number of keys and values
  std::size_t size;     ///< columns of the head
  Dropout dropout;
  std::uint32_t
      first;  ///< the dropout's index of (query 0, key 0); the next query's is `length` higher
};

/// A thread's memory for `attend` and `attend_backward`, aligned to 64 bytes.
struct AttentionScratch {
  /// Returns the number of floats needed for a sequence of that length and a head of that size.
  static std::size_t floats(std::size_t length, std::size_t size) {
    const std::size_t l = round_to_lanes(length);
    const std::size_t d = round_to_lanes(size);
    return 2 * l * l + 6 * l * d;
  }
  float* memory;

  float* take(std::size_t count) {
    float* const taken = memory;
    memory += count;
    return taken;
  }
};

/// Computes to [rows, round_to_lanes(columns)] = scale * from, with zeros after the columns.
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

/// Computes to [columns, round_to_lanes(rows)] = from transposed, with zeros after the rows.
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

/// Computes the softmax of the first n scores of a row, in place, and zeros after them up to a
/// multiple of the vector's width.
template <std::size_t width>
SEQTRAIN_INLINE void softmax_row(float* scores, std::size_t n) {
  using Floats = typename Width<width>::Floats;
  const std::size_t end = round_to_lanes(n);
  Floats places;
  count_up(places);
  const auto load_scores = [&](std::size_t i, Floats& s) SEQTRAIN_INLINE_LAMBDA {
    load(scores + i, s);
    s = places < static_cast<float>(n) - static_cast<float>(i) ? s : Floats{} - 1e30F;
  };
  Floats peaks, s, total = {};
  load_scores(0, peaks);
  for (std::size_t i = width; i < end; i += width) {
    load_scores(i, s);
    peaks = s > peaks ? s : peaks;
  }
  const float peak = largest(peaks);
  for (std::size_t i = 0; i < end; i += width) {
    load_scores(i, s);
    s -= peak;
    exponentiate(s);
    total += s;
    store(scores + i, s);
  }
  const float inverse = 1 / sum(total);
  for (std::size_t i = 0; i < end; i += width) {
    load(scores + i, s);
    store(scores + i, s * inverse);
  }
}

/// Computes probabilities [queries, round_to_lanes(length)] = softmax(q k^T / sqrt(size)).
template <std::size_t width, class T>
SEQTRAIN_INLINE void attention_probabilities(const Head<T>& head, float* q, float* k_transposed,
                                             float* probabilities) {
  const std::size_t keys = round_to_lanes(head.length);
  widen(head.q, head.ld, head.queries, head.size,
        1 / __builtin_sqrtf(static_cast<float>(head.size)), q);
  widen_transposed<width>(head.k, head.ld, head.length, head.size, k_transposed);
  small_product({q, round_to_lanes(head.size), 1}, k_transposed, keys, probabilities, keys,
                head.queries, keys, head.size);
  for (std::size_t row = 0; row < head.queries; ++row) {
    softmax_row<width>(probabilities + row * keys, head.length);
  }
}

/// Computes to [rows, columns] = from [rows, round_to_lanes(columns)] with rows `ld` apart.
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

/// Computes out [queries, size] = dropout(softmax(q k^T / sqrt(size))) v with rows `ld_out` apart.
template <class T>
void attend(const Head<T>& head, T* out, std::size_t ld_out, AttentionScratch memory) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    AttentionScratch scratch = memory;
    const std::size_t keys = round_to_lanes(head.length);
    const std::size_t size = round_to_lanes(head.size);
    float* const q = scratch.take(keys * size);
    float* const k = scratch.take(size * keys);
    float* const v = scratch.take(keys * size);
    float* const result = scratch.take(keys * size);
    float* const p = scratch.take(keys * keys);
    attention_probabilities<width>(head, q, k, p);
    for (std::size_t row = 0; row < head.queries; ++row) {
      const auto index = head.first + static_cast<std::uint32_t>(row * head.length);
      for (std::size_t i = 0; i < keys; i += width) {
        typename Width<width>::Floats kept;
        load(p + row * keys + i, kept);
        head.dropout.apply(index + static_cast<std::uint32_t>(i), kept);
        store(p + row * keys + i, kept);
      }
    }
    widen(head.v, head.ld, head.length, head.size, 1, v);
    small_product({p, keys, 1}, v, size, result, size, head.queries, size, head.length);
    narrow(result, head.queries, head.size, out, ld_out);
  });
}

/// Turns a row d from the gradient with respect to the probabilities after dropout into the
/// gradient with respect to the scores. Turns the row p from probabilities into probabilities after
/// dropout.
template <std::size_t width>
SEQTRAIN_INLINE void score_gradient(float* p, float* d, std::size_t n, const Dropout& dropout,
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

/// Computes the backward pass of `attend`. `gradient` [queries, size] is the gradient with respect
/// to its result, with rows `ld_gradient` apart. Writes the gradients with respect to q, k and v,
/// with rows `head.ld` apart, which may overwrite q, k and v.
template <class T>
void attend_backward(const Head<T>& head, const T* gradient, std::size_t ld_gradient, T* q_gradient,
                     T* k_gradient, T* v_gradient, AttentionScratch memory) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    AttentionScratch scratch = memory;
    const std::size_t keys = round_to_lanes(head.length);
    const std::size_t size = round_to_lanes(head.size);
    float* const q = scratch.take(keys * size);
    float* const k_transposed = scratch.take(size * keys);
    float* const v_transposed = scratch.take(size * keys);
    float* const g = scratch.take(keys * size);
    float* const k = scratch.take(keys * size);
    float* const result = scratch.take(keys * size);
    float* const p = scratch.take(keys * keys);
    float* const d = scratch.take(keys * keys);
    attention_probabilities<width>(head, q, k_transposed, p);
    widen_transposed<width>(head.v, head.ld, head.length, head.size, v_transposed);
    widen(gradient, ld_gradient, head.queries, head.size, 1, g);
    widen(head.k, head.ld, head.length, head.size,
          1 / __builtin_sqrtf(static_cast<float>(head.size)), k);
    small_product({g, size, 1}, v_transposed, keys, d, keys, head.queries, keys, head.size);
    // d becomes the gradient of the scores, p the probabilities after dropout.
    for (std::size_t row = 0; row < head.queries; ++row) {
      const auto index = head.first + static_cast<std::uint32_t>(row * head.length);
      score_gradient<width>(p + row * keys, d + row * keys, keys, head.dropout, index);
    }
    small_product({d, keys, 1}, k, size, result, size, head.queries, size, head.length);
    narrow(result, head.queries, head.size, q_gradient, head.ld);
    small_product({d, 1, keys}, q, size, result, size, head.length, size, head.queries);
    narrow(result, head.length, head.size, k_gradient, head.ld);
    small_product({p, 1, keys}, g, size, result, size, head.length, size, head.queries);
    narrow(result, head.length, head.size, v_gradient, head.ld);
  });
}

}  // namespace seqtrain::kernels
