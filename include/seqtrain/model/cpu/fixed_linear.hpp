#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <seqtrain/kernels/bf16_product.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/int8.hpp>
#include <seqtrain/kernels/lanes.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/linear.hpp>

namespace seqtrain::model::cpu {

/// Rows that a linear map is applied to, [rows, in].
struct LinearInput {
  const kernels::Bf16* values;
  kernels::QuantizedRows quantized;  ///< the values in int8, read by maps in int8 only
};

/// A linear map for predictions: its weights are packed in int8 or in bfloat16 for the forward pass
/// alone.
class FixedLinear {
 public:
  FixedLinear(Linear<Bf16> linear, bool int8) : linear_{std::move(linear)}, int8_{int8} {}

  [[nodiscard]] std::size_t in() const { return linear_.in(); }
  [[nodiscard]] std::size_t out() const { return linear_.out(); }
  [[nodiscard]] std::size_t panels() const { return out() / panel; }

  [[nodiscard]] bool int8() const { return int8_; }

  /// Computes in bf16 from the next packing on.
  void keep_in_bf16() {
    int8_ = false;
    weights_ = {};
    excess_ = {};
    scales_ = {};
  }

  /// See `Linear::begin_packing`. In int8 the weights are packed once unless `always` is true.
  [[nodiscard]] std::size_t begin_packing(bool always) {
    if (!int8_) return linear_.begin_packing(always);
    if (packed_ && !always) return 0;
    packed_ = false;
    weights_.reserve(in() * out());
    excess_.reserve(out());
    scales_.reserve(out());
    bias_.resize(out());
    return panels();
  }
  void end_packing() {
    if (!int8_) return linear_.end_packing();
    packed_ = true;
  }
  /// See `Linear::forget_weights`.
  void forget_weights() { linear_.forget_weights(); }

  void pack(std::size_t index) {
    if (!int8_) return linear_.pack(index);
    const auto [weight, bias] = linear_.weights(index * panel);
    kernels::quantize_panel(weight, in(), panel, int8_panel(index));
    if (bias != nullptr) std::copy_n(bias, panel, bias_.data() + index * panel);
  }

  /// Computes y = W x + b and calls use(row, column, y) with each vector of the panel's columns.
  /// `block` [rows, panel] is scratch memory. `use` is a lambda marked SEQTRAIN_INLINE_LAMBDA that
  /// captures by copy.
  template <class Use>
  void operator()(const LinearInput& x, std::size_t rows, std::size_t index, float* block,
                  Use use) const {
    const std::size_t first = index * panel;
    const float* const bias = (int8_ ? bias_.data() : linear_.bias()) + first;
    const auto add_bias = [=]<class Floats>(std::size_t row, std::size_t column,
                                            const Floats& product) SEQTRAIN_INLINE_LAMBDA {
      Floats b;
      kernels::load(bias + column, b);
      use(row, first + column, product + b);
    };
    if (int8_) {
      return kernels::multiply_int8<panel>(x.quantized, rows, in(), int8_panel(index), panel,
                                           add_bias);
    }
    const Bf16* const weights = linear_.forward_panel(index);
    if (multiplies_itself()) {
      return kernels::multiply_bf16<panel>(x.values, in(), rows, in(), weights, panel, add_bias);
    }
    multiply_panel(rows, in(), x.values, in(), weights, block, panel, false);
    const float* const product = block;
    kernels::vectorised([=]<std::size_t width>(kernels::Width<width>) SEQTRAIN_INLINE_LAMBDA {
      typename kernels::Width<width>::Floats y;
      for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < panel; column += width) {
          kernels::load(product + row * panel + column, y);
          add_bias(row, column, y);
        }
      }
    });
  }

 private:
  /// Tells whether the products in bfloat16 are computed without oneDNN. oneDNN uses AMX, which is
  /// faster than the processor's other instructions for bfloat16.
  static bool multiplies_itself() {
    static const bool answer = kernels::has_bf16_products() && rows_at_once<Bf16>() == 8;
    return answer;
  }

  [[nodiscard]] kernels::Int8Panel int8_panel(std::size_t index) const {
    const std::size_t first = index * panel;
    return {weights_.data() + first * in(), excess_.data() + first, scales_.data() + first};
  }

  Linear<Bf16> linear_;
  bool int8_;
  bool packed_ = false;  // in int8
  Buffer<std::int8_t> weights_;
  Buffer<std::int32_t> excess_;
  Buffer<float> scales_;
  std::vector<float> bias_;
};

}  // namespace seqtrain::model::cpu
