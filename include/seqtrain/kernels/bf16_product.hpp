#pragma once

#include <cstddef>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/dot_tiles.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// Tells whether `multiply_bf16` can be used: the processor must multiply bfloat16 numbers in
/// vectors of 16 words.
inline bool has_bf16_products() {
#if SEQTRAIN_HAS_CLONES
  return detail::has_avx512() && has_bf16_instructions();
#else
  return false;
#endif
}

/// Computes y = x b for [rows, columns]. x is [rows, k] with rows `ld` apart, and the rows of y are
/// `ld_y` apart; b [k, columns] is packed as one panel (kernels/pack.hpp). k and ld are even,
/// columns a multiple of `multiple`, which is a multiple of 16.
template <std::size_t multiple = lanes>
void multiply_bf16(const Bf16* x, std::size_t ld, std::size_t rows, std::size_t k, const Bf16* b,
                   std::size_t columns, float* y, std::size_t ld_y) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    if constexpr (width == 16) {
      using Floats = typename Width<width>::Floats;
      dot_product<dot::Bf16Pairs, Floats, multiple>(
          {x, ld / 2, b, columns, k / 2}, rows, columns,
          [=](std::size_t row, std::size_t column, const Floats& sums)
              SEQTRAIN_INLINE_LAMBDA { store(y + row * ld_y + column, sums); });
    }
  });
}

}  // namespace seqtrain::kernels
