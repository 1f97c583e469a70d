#pragma once

#include <cstddef>

#include <seqtrain/kernels/bf16.hpp>
#include <seqtrain/kernels/clones.hpp>
#include <seqtrain/kernels/lanes.hpp>

namespace seqtrain::kernels {

/// The number of units in a panel of an LSTM's gates. A row of a panel holds 16 input gates, then
/// the forget gates, the candidates and the output gates of these units.
inline constexpr std::size_t lstm_units = 16;
/// The number of gates in a row of a panel.
inline constexpr std::size_t lstm_panel = 4 * lstm_units;

namespace detail {

template <class Floats>
SEQTRAIN_INLINE void sigmoid(Floats& x) {
  Floats e = -x;
  exponentiate(e);
  x = 1 / (1 + e);
}

template <class Floats>
SEQTRAIN_INLINE void hyperbolic_tangent(Floats& x) {
  Floats e = -2 * (x < 0 ? -x : x);
  exponentiate(e);
  const Floats magnitude = (1 - e) / (1 + e);
  x = x < 0 ? -magnitude : magnitude;
}

/// Reads `count` numbers, at most as many as a vector holds; the other lanes are 0.
template <class Floats>
SEQTRAIN_INLINE void load_some(const float* from, std::size_t count, Floats& to) {
  if (count >= width_of<Floats>) return load(from, to);
  to = Floats{};
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

template <class Floats>
SEQTRAIN_INLINE void store_some(float* to, std::size_t count, const Floats& from) {
  if (count >= width_of<Floats>) return store(to, from);
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

}  // namespace detail

/// One step of an LSTM for some rows and the units of one panel. Pointers are to the panel's part
/// of the first row.
template <class T>
struct LstmStep {
  std::size_t rows;
  std::size_t units;         ///< units that exist, at most `lstm_units`; `hidden` has no others
  const float* sums;         ///< [rows, lstm_panel], the gates before bias and activation
  const float* bias;         ///< [lstm_panel]
  const float* cell_before;  ///< [rows, lstm_units], rows `ld_cell` apart
  T* gates;                  ///< [rows, lstm_panel], for the backward pass; may be `sums`
  float* cell;               ///< like `cell_before`
  std::size_t ld_cell;
  T* input;  ///< the hidden state as an input of the next step, rows `ld_input` apart
  std::size_t ld_input;
  float* hidden;  ///< the hidden state, rows `ld_hidden` apart
  std::size_t ld_hidden;
};

/// Computes gates, cells and hidden states: c' = f c + i g and h = o tanh(c').
template <class T>
void lstm_forward(LstmStep<T> step) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    typename Width<width>::Floats gate[4], b, c;
    for (std::size_t row = 0; row < step.rows; ++row) {
      for (std::size_t unit = 0; unit < lstm_units; unit += width) {
        const std::size_t place = row * lstm_panel + unit;
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) {
          load(step.sums + place + i * lstm_units, gate[i]);
          load(step.bias + i * lstm_units + unit, b);
          gate[i] += b;
        }
        detail::sigmoid(gate[0]);
        detail::sigmoid(gate[1]);
        detail::hyperbolic_tangent(gate[2]);
        detail::sigmoid(gate[3]);
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) store(step.gates + place + i * lstm_units, gate[i]);
        load(step.cell_before + row * step.ld_cell + unit, c);
        c = gate[1] * c + gate[0] * gate[2];
        store(step.cell + row * step.ld_cell + unit, c);
        detail::hyperbolic_tangent(c);
        c *= gate[3];
        store(step.input + row * step.ld_input + unit, c);
        if (unit < step.units) {
          detail::store_some(step.hidden + row * step.ld_hidden + unit, step.units - unit, c);
        }
      }
    }
  });
}

/// The backward pass of one step for some rows and the units of one panel.
template <class T>
struct LstmStepBack {
  std::size_t rows;
  std::size_t units;         ///< as in `LstmStep`
  const float* d_hidden;     ///< gradient of the hidden state as an output, rows `ld_hidden` apart
  std::size_t ld_hidden;     ///< distance of its rows
  const float* d_input;      ///< its gradient as the next step's input, rows `ld_d_input` apart
  std::size_t ld_d_input;    ///< distance of its rows
  const T* gates;            ///< as `lstm_forward` left them
  const float* cell_before;  ///< rows `ld_cell` apart
  const float* cell;
  float* d_cell;  ///< gradient of `cell` from later steps; becomes the gradient of `cell_before`
  std::size_t ld_cell;
  T* d_gates;  ///< gradients of the gates before activation, rows `ld_d_gates` apart
  std::size_t ld_d_gates;
};

/// Computes the backward pass of a step: the gradients of the gates and of the cells before it.
template <class T>
void lstm_backward(LstmStepBack<T> step) {
  vectorised([=]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    typename Width<width>::Floats gate[4], d_gate[4], dh, dc, c, before, from_next;
    for (std::size_t row = 0; row < step.rows; ++row) {
      for (std::size_t unit = 0; unit < lstm_units; unit += width) {
        const std::size_t cell = row * step.ld_cell + unit;
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) {
          load(step.gates + row * lstm_panel + i * lstm_units + unit, gate[i]);
        }
        const std::size_t left = unit < step.units ? step.units - unit : 0;
        detail::load_some(step.d_hidden + row * step.ld_hidden + unit, left, dh);
        load(step.d_input + row * step.ld_d_input + unit, from_next);
        dh += from_next;
        load(step.cell + cell, c);
        load(step.cell_before + cell, before);
        load(step.d_cell + cell, dc);
        detail::hyperbolic_tangent(c);
        dc += dh * gate[3] * (1 - c * c);
        d_gate[0] = dc * gate[2] * gate[0] * (1 - gate[0]);
        d_gate[1] = dc * before * gate[1] * (1 - gate[1]);
        d_gate[2] = dc * gate[0] * (1 - gate[2] * gate[2]);
        d_gate[3] = dh * c * gate[3] * (1 - gate[3]);
        store(step.d_cell + cell, dc * gate[1]);
#pragma GCC unroll 4
        for (std::size_t i = 0; i < 4; ++i) {
          store(step.d_gates + row * step.ld_d_gates + i * lstm_units + unit, d_gate[i]);
        }
      }
    }
  });
}

}  // namespace seqtrain::kernels
