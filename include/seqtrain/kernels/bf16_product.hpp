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

/// Computes y = x b for [rows, columns] and calls use(row, column, y) with each vector of y. x is
/// [rows, k] with rows `ld` apart; b [k, columns] is packed as one panel (kernels/pack.hpp). k and
/// ld are even, columns a multiple of `multiple`, which is a multiple of 16. `use` is a lambda
/// marked SEQTRAIN_INLINE_LAMBDA that captures by copy.
template <std::size_t multiple = lanes, class Use>
void multiply_bf16(const Bf16* x, std::size_t ld, std::size_t rows, std::size_t k, const Bf16* b,
                   std::size_t columns, Use use) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    if constexpr (width == 16) {
      using Floats = typename Width<width>::Floats;
      dot_product<dot::Bf16Pairs, Floats, multiple>({x, ld / 2, b, columns, k / 2}, rows, columns,
                                                    use);
    }
  });
}

}  // namespace seqtrain::kernels
