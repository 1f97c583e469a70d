#pragma once

#include <cstddef>
#include <utility>

#include <seqtrain/kernels/clones.hpp>

namespace seqtrain::kernels {

namespace detail {

/// Interleaves two vectors: low = a0 b0 a1 b1 … from their first halves, and high likewise from
/// their second halves.
template <class Floats, std::size_t... i>
SEQTRAIN_INLINE void interleave(const Floats& a, const Floats& b, Floats& low, Floats& high,
                                std::index_sequence<i...> /*lanes*/) {
  constexpr std::size_t n = sizeof...(i);
  low = __builtin_shufflevector(a, b, (i / 2 + i % 2 * n)...);
  high = __builtin_shufflevector(a, b, (n / 2 + i / 2 + i % 2 * n)...);
}

}  // namespace detail

/// Transposes: rows[i][j] becomes rows[j][i]. Each round interleaves row i with row i + n / 2,
/// which moves an index by one bit.
template <std::size_t n, class Floats = typename Width<n>::Floats>
SEQTRAIN_INLINE void transpose(Floats* rows) {
  Floats other[n];
#pragma GCC unroll 8
  for (std::size_t round = 1; round < n; round *= 2) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < n / 2; ++i) {
      detail::interleave(rows[i], rows[i + n / 2], other[2 * i], other[2 * i + 1],
                         std::make_index_sequence<n>{});
    }
#pragma GCC unroll 16
    for (std::size_t i = 0; i < n; ++i) rows[i] = other[i];
  }
}

}  // namespace seqtrain::kernels
