#pragma once

#include <cstddef>
#include <cstdint>

#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/dropout.hpp>
#include <seqtrain/kernels/instructions.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// GELU, which is x Phi(x) with Phi the normal distribution's. It computes erf by formula 7.1.26 of
/// Abramowitz and Stegun with an error below 1.5e-7. The slope uses the formula's exponential too.
struct Gelu {
  /// Computes the value and the slope at x.
  template <class Floats>
  SEQTRAIN_INLINE static void at(const Floats& x, Floats& value, Floats& slope) {
    const Floats z = (x < 0 ? -x : x) * 0.70710678F;
    const Floats t = 1 / (1 + 0.3275911F * z);
    Floats e = -z * z;
    exponentiate(e);
    const Floats series =
        0.254829592F +
        t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F)));
    const Floats tail = t * series * e * 0.5F;  // Phi(-|x|)
    const Floats phi = x < 0 ? tail : 1 - tail;
    value = x * phi;
    slope = phi + x * e * 0.39894228F;
  }
};

/// GELU without a slope, for results that are rounded to bfloat16 or int8. It computes erf by
/// formula 7.1.28 of Abramowitz and Stegun, whose error is below 3e-7, and uses the processor's
/// approximate reciprocal of 14 bits if it has one.
struct QuickGelu {
  /// Computes the value and the slope at x.
  template <class Floats>
  SEQTRAIN_INLINE static void at(const Floats& x, Floats& value, Floats& slope) {
    slope = Floats{};
    const Floats z = x < 0 ? -x : x;  // the coefficients are those of |x| / sqrt(2)
    Floats p = 1 + z * (0.0498673470F +
                        z * (0.0211410062F +
                             z * (0.0032776263F +
                                  z * (0.0000380036F + z * (0.0000488906F + z * 0.0000053830F)))));
    p *= p;
    p *= p;
    p *= p;
    p *= p;
    Floats tail;  // Phi(-|x|)
    reciprocal(p, tail);
    tail *= 0.5F;
    value = x * (x < 0 ? tail : 1 - tail);
  }

 private:
  template <class Floats>
  SEQTRAIN_INLINE static void reciprocal(const Floats& x, Floats& y) {
#if SEQTRAIN_HAS_CLONES
    if constexpr (width_of<Floats> == 16) return instruction::reciprocal(x, y);
#endif
    y = 1 / x;
  }
};

/// The approximation of GELU 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), "gelu_new" in
/// transformers.
struct GeluNew {
  /// Computes the value and the slope at x.
  template <class Floats>
  SEQTRAIN_INLINE static void at(const Floats& x, Floats& value, Floats& slope) {
    constexpr float c = 0.79788456F;
    const Floats u = c * (x + 0.044715F * x * x * x);
    Floats e = -2 * (u < 0 ? -u : u);
    exponentiate(e);
    const Floats magnitude = (1 - e) / (1 + e);
    const Floats t = u < 0 ? -magnitude : magnitude;
    value = 0.5F * x * (1 + t);
    slope = 0.5F * (1 + t) + 0.5F * x * (1 - t * t) * c * (1 + 3 * 0.044715F * x * x);
  }
};

/// ReLU.
struct Relu {
  /// Computes the value and the slope at x.
  template <class Floats>
  SEQTRAIN_INLINE static void at(const Floats& x, Floats& value, Floats& slope) {
    value = x > 0 ? x : Floats{};
    slope = x > 0 ? Floats{} + 1 : Floats{};
  }
};

/// SiLU, which is x times its sigmoid.
struct Silu {
  /// Computes the value and the slope at x.
  template <class Floats>
  SEQTRAIN_INLINE static void at(const Floats& x, Floats& value, Floats& slope) {
    Floats e = x < 0 ? x : -x;
    exponentiate(e);
    const Floats small = e / (1 + e);  // the sigmoid of -|x|
    const Floats sigmoid = x < 0 ? small : 1 - small;
    value = x * sigmoid;
    slope = sigmoid + value * (1 - sigmoid);
  }
};

/// Leaves x as it is.
struct Identity {
  /// Returns x as the value, and leaves the slope as it is.
  template <class Floats>
  SEQTRAIN_INLINE static void at(const Floats& x, Floats& value, Floats&) {
    value = x;
  }
};

/// Computes value = act(x + bias) and slope = act'(x + bias) for a block [rows, n]. Rows of x are
/// `ld_x` apart, rows of the results `ld`. The backward pass only multiplies by the slope; `slope`
/// is null if there is no backward pass. n must be a multiple of 16.
template <class Act, class T>
void activate(const float* x, std::size_t ld_x, const float* bias, T* value, T* slope,
              std::size_t ld, std::size_t rows, std::size_t n) {
  for_each_vector(rows, n, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    typename decltype(at)::Floats in, b, y, dy;
    load(at.in(x, ld_x), in);
    load(bias + at.column, b);
    Act::at(in + b, y, dy);
    store(at.in(value, ld), y);
    if (slope != nullptr) store(at.in(slope, ld), dy);
  });
}

/// Computes value = dropout(act(x + bias) * (gate + gate_bias)) for a block [rows, n], and the
/// factors by which its gradient is multiplied to get the gradients of x and of the gate. Rows of x
/// and gate are `ld_x` apart, rows of the value `ld`, rows of the factors `ld_factors`; the factors
/// are null if there is no backward pass. `first` is the dropout's index of the block's first
/// element; the next row's is `ld` higher. n must be a multiple of 16.
template <class Act, class T>
void activate_gated(const float* x, const float* gate, std::size_t ld_x, const float* bias,
                    const float* gate_bias, const HashDropout& dropout, std::uint32_t first,
                    T* value, std::size_t ld, T* factor_of_x, T* factor_of_gate,
                    std::size_t ld_factors, std::size_t rows, std::size_t n) {
  for_each_vector(rows, n, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    typename decltype(at)::Floats in, g, b, y, dy;
    const auto index = first + static_cast<std::uint32_t>(at.row * ld + at.column);
    load(at.in(x, ld_x), in);
    load(bias + at.column, b);
    Act::at(in + b, y, dy);
    load(at.in(gate, ld_x), g);
    load(gate_bias + at.column, b);
    g += b;
    dropout.apply(index, g);
    store(at.in(value, ld), y * g);
    if (factor_of_x == nullptr) return;
    store(at.in(factor_of_x, ld_factors), dy * g);
    dropout.apply(index, y);
    store(at.in(factor_of_gate, ld_factors), y);
  });
}

/// Computes slope = gradient * slope, in place, for a block [rows, n].
template <class T>
void multiply(const float* gradient, std::size_t ld_gradient, T* slope, std::size_t ld,
              std::size_t rows, std::size_t n) {
  for_each_vector(rows, n, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    typename decltype(at)::Floats g, s;
    load(at.in(gradient, ld_gradient), g);
    load(at.in(slope, ld), s);
    store(at.in(slope, ld), g * s);
  });
}

/// Computes y = y + x for a block [rows, n].
inline void add(const float* x, std::size_t ld_x, float* y, std::size_t ld, std::size_t rows,
                std::size_t n) {
  for_each_vector(rows, n, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    typename decltype(at)::Floats in, sum;
    load(at.in(x, ld_x), in);
    load(at.in(y, ld), sum);
    store(at.in(y, ld), sum + in);
  });
}

/// Computes y = x, rounded, for a block [rows, n].
template <class T>
void convert(const float* x, std::size_t ld_x, T* y, std::size_t ld, std::size_t rows,
             std::size_t n) {
  for_each_vector(rows, n, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    typename decltype(at)::Floats in;
    load(at.in(x, ld_x), in);
    store(at.in(y, ld), in);
  });
}

/// Computes y = x + bias for a block [rows, n].
template <class T>
void add_bias(const float* x, std::size_t ld_x, const float* bias, T* y, std::size_t ld,
              std::size_t rows, std::size_t n) {
  for_each_vector(rows, n, [=](auto at) SEQTRAIN_INLINE_LAMBDA {
    typename decltype(at)::Floats in, b;
    load(at.in(x, ld_x), in);
    load(bias + at.column, b);
    store(at.in(y, ld), in + b);
  });
}

}  // namespace seqtrain::kernels
