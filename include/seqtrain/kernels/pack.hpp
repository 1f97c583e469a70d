#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/kernels/transpose.hpp>

namespace seqtrain::kernels {

/// The number of rows that are interleaved in a packed factor [k, n] of a product. A packed factor
/// has panels of `panel` columns (the last one may be narrower), each stored row by row. bfloat16
/// interleaves two rows, so k must be even.
template <class T>
inline constexpr std::size_t interleave = sizeof(T) == sizeof(Bf16) ? 2 : 1;

namespace detail {

/// Returns the upper halves of a's words followed by the upper halves of b's.
template <class Bits, class Floats, std::size_t... i>
SEQTRAIN_INLINE void upper_halves(const Bits& a, const Bits& b, Floats& to,
                                  std::index_sequence<i...> /*halves*/) {
  using Halves [[gnu::vector_size(sizeof(Bits))]] = std::uint16_t;
  to = reinterpret_cast<Floats>(__builtin_shufflevector(
      reinterpret_cast<Halves>(a), reinterpret_cast<Halves>(b), (2 * i + 1)...));
}

/// Rounds to bfloat16, to the upper halves of the words. A processor with an instruction for it
/// turns subnormal numbers into 0, as its products do.
template <class Floats>
SEQTRAIN_INLINE void round_factor(const Floats& from, typename WidthOf<Floats>::Bits& to) {
  typename WidthOf<Floats>::Halves halves;
  if (round_by_instruction(from, halves)) {
    to = __builtin_convertvector(halves, typename WidthOf<Floats>::Bits) << 16;
  } else {
    round_to_bf16(from, to);
  }
}

}  // namespace detail

/// Returns the words of a packed factor for one row of the matrix (floats) or for two (pairs
/// rounded to bfloat16).
template <class T, class Source, class Floats>
SEQTRAIN_INLINE void load_words_of_rows(const Source* from, std::size_t ld, Floats& words) {
  load(from, words);
  if constexpr (interleave<T> == 2) {
    using Bits = typename WidthOf<Floats>::Bits;
    Floats next;
    load(from + ld, next);
    Bits one = reinterpret_cast<Bits>(words), two = reinterpret_cast<Bits>(next);
    if constexpr (interleave<Source> == 1) {
      detail::round_factor(words, one);
      detail::round_factor(next, two);
    }
    words = reinterpret_cast<Floats>(one >> 16 | (two & 0xffff0000));
  }
}

/// Packs one panel of the matrix whose element (row, column) is source[row * ld + column]:
/// [k / i][columns][i] with i = interleave<T>. columns is a multiple of 16.
template <class T, class Source>
void pack_panel(const Source* source, std::size_t ld, std::size_t k, std::size_t columns,
                T* packed) {
  constexpr std::size_t step = interleave<T>;
  for_each_vector(k / step, columns, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    typename decltype(at)::Floats words;
    load_words_of_rows<T>(at.in(source, step * ld), ld, words);
    std::memcpy(packed + step * (at.row * columns + at.column), &words, sizeof words);
  });
}

/// Returns the words of a packed factor that begin at from[0]: floats, or pairs rounded to
/// bfloat16.
template <class T, class Floats>
SEQTRAIN_INLINE void load_words(const float* from, Floats& words) {
  load(from, words);
  if constexpr (interleave<T> == 2) {
    Floats next;
    typename WidthOf<Floats>::Bits one, two;
    load(from + width_of<Floats>, next);
    detail::round_factor(words, one);
    detail::round_factor(next, two);
    detail::upper_halves(one, two, words, std::make_index_sequence<2 * width_of<Floats>>{});
  }
}

/// Reads words of two bfloat16 numbers each.
template <class T, class Floats>
SEQTRAIN_INLINE void load_words(const Bf16* from, Floats& words) {
  static_assert(interleave<T> == 2, "bfloat16 is packed as bfloat16");
  std::memcpy(&words, from, sizeof words);
}

/// Packs a panel of the transpose, as `pack_panel`: element (row, column) is source[column * ld +
/// row]. k must be a multiple of 32, columns of 16.
template <class T, class Source>
void pack_transposed_panel(const Source* source, std::size_t ld, std::size_t k, std::size_t columns,
                           T* packed) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    constexpr std::size_t step = interleave<T>;  // rows in a word
    typename Width<width>::Floats words[width];
    for (std::size_t column = 0; column < columns; column += width) {
      for (std::size_t row = 0; row < k; row += step * width) {
#pragma GCC unroll 16
        for (std::size_t i = 0; i < width; ++i) {
          load_words<T>(source + (column + i) * ld + row, words[i]);
        }
        transpose<width>(words);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < width; ++i) {
          std::memcpy(packed + (row + i * step) * columns + column * step, &words[i],
                      sizeof words[i]);
        }
      }
    }
  });
}

/// Unpacks what `pack_panel` has packed: writes the matrix to [k, columns] in fp32.
template <class T>
void unpack_panel(const T* packed, std::size_t k, std::size_t columns, float* to) {
  vectorised([=](auto) SEQTRAIN_INLINE_LAMBDA {
    constexpr std::size_t step = interleave<T>;
    for (std::size_t row = 0; row < k; row += step) {
      for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t i = 0; i < step; ++i) {
          to[(row + i) * columns + column] = to_float(packed[row * columns + column * step + i]);
        }
      }
    }
  });
}

/// Computes the matrix `to` [rows, columns] = `from`, whose rows are `ld` apart, in fp32.
template <class T>
void widen(const T* from, std::size_t ld, std::size_t rows, std::size_t columns, float* to) {
  vectorised([=](auto) SEQTRAIN_INLINE_LAMBDA {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < columns; ++i) {
        to[row * columns + i] = to_float(from[row * ld + i]);
      }
    }
  });
}

/// Returns row `row` of the source as words, or for bfloat16 that row and the next as pairs. Adds
/// the numbers to `sum`.
template <class T, class Floats>
SEQTRAIN_INLINE void load_and_add(const T* source, std::size_t ld, Floats& words, Floats& sum) {
  Floats one;
  load(source, one);
  sum += one;
  if constexpr (interleave<T> == 1) {
    words = one;
  } else {
    using Bits = typename WidthOf<Floats>::Bits;
    Floats two;
    load(source + ld, two);
    sum += two;
    words =
        reinterpret_cast<Floats>(reinterpret_cast<Bits>(one) >> 16 | reinterpret_cast<Bits>(two));
  }
}

/// Writes the transpose [columns, rows] of source [rows, columns], whose rows are `ld` apart. Adds
/// the sum of each column to `sums`. rows must be a multiple of 32, columns of 16.
template <class T>
void transpose_and_sum(const T* source, std::size_t ld, std::size_t rows, std::size_t columns,
                       T* transposed, float* sums) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    constexpr std::size_t step = interleave<T>;
    typename Width<width>::Floats words[width], sum;
    for (std::size_t row = 0; row < rows; row += step * width) {
      for (std::size_t column = 0; column < columns; column += width) {
        load(sums + column, sum);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < width; ++i) {
          load_and_add(source + (row + i * step) * ld + column, ld, words[i], sum);
        }
        store(sums + column, sum);
        transpose<width>(words);
#pragma GCC unroll 16
        for (std::size_t i = 0; i < width; ++i) {
          std::memcpy(transposed + (column + i) * rows + row, &words[i], sizeof words[i]);
        }
      }
    }
  });
}

}  // namespace seqtrain::kernels
