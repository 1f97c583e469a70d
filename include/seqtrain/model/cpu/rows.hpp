#pragma once

#include <cstddef>

#include <seqtrain/model/cpu/linear.hpp>

namespace seqtrain::model::cpu {

/// What one layer keeps of its tokens from the forward pass to the backward pass and on to the
/// weights' gradients. Row-major; the first name is the forward pass's content, the backward pass
/// overwrites some of it with the gradient that the weights need.
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
    return {input + row * hidden,   qkv + row * 3 * hidden, context + row * hidden,
            normal1 + row * hidden, middle + row * hidden,  slope + row * inner,
            active + row * inner,   normal2 + row * hidden, inverse1 + row,
            inverse2 + row};
  }
};

/// Memory of a layer's rows.
template <class T>
class LayerMemory {
 public:
  LayerRows<T> reserve(std::size_t rows, std::size_t hidden, std::size_t inner) {
    T* next = memory_.reserve(rows * (8 * hidden + 2 * inner));
    const auto take = [&](std::size_t width) {
      T* const taken = next;
      next += rows * width;
      return taken;
    };
    float* const inverse = inverse_.reserve(2 * rows);
    return {.input = take(hidden),
            .qkv = take(3 * hidden),
            .context = take(hidden),
            .normal1 = take(hidden),
            .middle = take(hidden),
            .slope = take(inner),
            .active = take(inner),
            .normal2 = take(hidden),
            .inverse1 = inverse,
            .inverse2 = inverse + rows};
  }

 private:
  Buffer<T> memory_;
  Buffer<float> inverse_;
};

}  // namespace seqtrain::model::cpu
