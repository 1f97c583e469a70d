#pragma once

#include <cstddef>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>

namespace seqtrain::kernels {

/// How a factor [k, n] of a product lies in memory for its kernel: in panels of `panel` columns
/// (the last one may be narrower), each panel row by row, and for bfloat16 two rows interleaved.
/// k must be even then.
template <class T>
inline constexpr std::size_t interleave = sizeof(T) == sizeof(Bf16) ? 2 : 1;

/// Packs one panel of the matrix whose element (row, column) is source[row * ld + column]:
/// [k / i][columns][i] with i = interleave<T>.
template <class T, class Source>
SEQTRAIN_CLONES void pack_panel(const Source* source, std::size_t ld, std::size_t k,
                                std::size_t columns, T* packed) {
  constexpr std::size_t step = interleave<T>;
  for (std::size_t row = 0; row < k; row += step) {
    for (std::size_t column = 0; column < columns; ++column) {
      for (std::size_t i = 0; i < step; ++i) {
        packed[row * columns + column * step + i] =
            from_float<T>(to_float(source[(row + i) * ld + column]));
      }
    }
  }
}

/// The same of the transpose: element (row, column) is source[column * ld + row].
template <class T, class Source>
SEQTRAIN_CLONES void pack_transposed_panel(const Source* source, std::size_t ld, std::size_t k,
                                           std::size_t columns, T* packed) {
  constexpr std::size_t step = interleave<T>;
  constexpr std::size_t tile = 16;
  for (std::size_t row = 0; row < k; row += tile) {
    const std::size_t end = row + tile < k ? row + tile : k;
    for (std::size_t column = 0; column < columns; ++column) {
      for (std::size_t r = row; r < end; ++r) {
        packed[r / step * step * columns + column * step + r % step] =
            from_float<T>(to_float(source[column * ld + r]));
      }
    }
  }
}

/// transposed [columns, rows] of source [rows, columns], rows `ld` apart; adds each column's sum to
/// `sums`.
template <class T>
SEQTRAIN_CLONES void transpose_and_sum(const T* source, std::size_t ld, std::size_t rows,
                                       std::size_t columns, T* transposed, float* sums) {
  constexpr std::size_t tile = 16;
  for (std::size_t column = 0; column < columns; column += tile) {
    const std::size_t end = column + tile < columns ? column + tile : columns;
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t c = column; c < end; ++c) {
        transposed[c * rows + row] = source[row * ld + c];
        sums[c] += to_float(source[row * ld + c]);
      }
    }
  }
}

}  // namespace seqtrain::kernels
