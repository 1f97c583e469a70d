#pragma once

#include <cstddef>

#include <seqtrain/model/cpu/linear.hpp>

namespace seqtrain::model::cpu {

/// What one layer keeps of its tokens from the forward pass to the backward pass and on to the
/// weights' gradients. Row-major; the first name is the forward pass's content, the backward pass
/// overwrites some of it with the gradient that the weights need. In an evaluation there is no
/// backward pass, and what only that reads is null.
template <class T>
struct LayerRows {
  T* input;         ///< [rows, hidden]
  T* qkv;           ///< [rows, 3 hidden] → its gradient
  T* context;       ///< [rows, hidden], what attention gives
  T* normal1;       ///< [rows, hidden], normalised → gradient of attention's output map
  T* middle;        ///< [rows, hidden], between the layer's halves
  T* slope;         ///< [rows, intermediate], the activation's → gradient of its argument
  T* active;        ///< [rows, intermediate]
  T* normal2;       ///< [rows, hidden], normalised → gradient of the second half's output map
  float* inverse1;  ///< [rows], inverse standard deviations
  float* inverse2;

  /// The same from `row` on.
  [[nodiscard]] LayerRows from(std::size_t row, std::size_t hidden, std::size_t inner) const {
    const auto kept = [](auto* rows, std::size_t count) {
      return rows == nullptr ? rows : rows + count;
    };
    return {input + row * hidden,        qkv + row * 3 * hidden,      context + row * hidden,
            kept(normal1, row * hidden), middle + row * hidden,       kept(slope, row * inner),
            active + row * inner,        kept(normal2, row * hidden), kept(inverse1, row),
            kept(inverse2, row)};
  }
};

/// Memory of a layer's rows.
template <class T>
class LayerMemory {
 public:
  /// With `keep` also for what the backward pass reads.
  LayerRows<T> reserve(std::size_t rows, std::size_t hidden, std::size_t inner, bool keep) {
    T* next = memory_.reserve(rows * (keep ? 8 * hidden + 2 * inner : 6 * hidden + inner));
    const auto take = [&](std::size_t width) {
      T* const taken = next;
      next += rows * width;
      return taken;
    };
    const auto take_kept = [&](std::size_t width) { return keep ? take(width) : nullptr; };
    float* const inverse = keep ? inverse_.reserve(2 * rows) : nullptr;
    return {.input = take(hidden),
            .qkv = take(3 * hidden),
            .context = take(hidden),
            .normal1 = take_kept(hidden),
            .middle = take(hidden),
            .slope = take_kept(inner),
            .active = take(inner),
            .normal2 = take_kept(hidden),
            .inverse1 = inverse,
            .inverse2 = keep ? inverse + rows : nullptr};
  }

 private:
  Buffer<T> memory_;
  Buffer<float> inverse_;
};

}  // namespace seqtrain::model::cpu
