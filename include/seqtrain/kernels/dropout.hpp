#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// Random bits that are a hash of a site and an index, equal in vectors of any width. The hash has
/// three 32-bit multiplications, with constants that C. Wellons found by a search for low bias.
struct RandomBits {
  std::uint64_t site = 0;

  /// Sets the lanes to the bits of `index`, index + 1, …
  template <class Bits>
  SEQTRAIN_INLINE void at(std::uint32_t index, Bits& x) const {
    count_up(x);
    x = (x + index) ^ static_cast<std::uint32_t>(site);
    x = ((x ^ (x >> 17)) * 0xed5ad4bbU) ^ static_cast<std::uint32_t>(site >> 32);
    x = (x ^ (x >> 11)) * 0xac4c1b51U;
    x = (x ^ (x >> 15)) * 0x31848babU;
    x ^= x >> 14;
  }
};

/// Dropout of the hand-written backend, without a stored mask; model/nn/dropout.hpp has that of the
/// operators. A hash of an element's index and of the site decides whether the element is
/// kept, so the backward pass computes the same answer again. The site is a number made of the
/// seed, the batch and the place in the network. A default-constructed object keeps all elements.
class HashDropout {
 public:
  HashDropout() = default;
  HashDropout(std::uint64_t site, double probability)
      : random_{site},
        threshold_{static_cast<std::uint32_t>(std::ldexp(probability, 32))},
        scale_{static_cast<float>(1 / (1 - probability))} {}

  /// Tells whether it drops any element.
  [[nodiscard]] bool drops() const { return threshold_ != 0; }

  /// Multiplies the elements from `index` on by 0 with the given probability, otherwise by 1 / (1 -
  /// probability).
  template <class Floats>
  SEQTRAIN_INLINE void apply(std::uint32_t index, Floats& values) const {
    if (threshold_ == 0) return;
    typename WidthOf<Floats>::Bits x;
    random_.at(index, x);
    values = x < threshold_ ? Floats{} : values * scale_;
  }

 private:
  RandomBits random_;
  std::uint32_t threshold_ = 0;
  float scale_ = 1;
};

/// Computes y = dropout(x), or adds it to y, for rows of `columns` numbers, a multiple of 16. Rows
/// of x and y are `x_ld` and `y_ld` apart. `first` is the dropout's index of the first number; that
/// of the next row is `row` more.
template <bool adds = false, class From, class T>
void drop(const From* x, std::size_t x_ld, const HashDropout& dropout, std::size_t first,
          std::size_t row, T* y, std::size_t y_ld, std::size_t rows, std::size_t columns) {
  for_each_vector(rows, columns, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    typename decltype(at)::Floats in, sum{};
    load(at.in(x, x_ld), in);
    dropout.apply(static_cast<std::uint32_t>(first + at.row * row + at.column), in);
    if constexpr (adds) load(at.in(y, y_ld), sum);
    store(at.in(y, y_ld), adds ? in + sum : in);
  });
}

}  // namespace seqtrain::kernels
