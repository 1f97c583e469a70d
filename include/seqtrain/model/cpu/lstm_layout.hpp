#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <seqtrain/kernels/lstm_cell.hpp>
#include <seqtrain/model/cpu/buffer.hpp>
#include <seqtrain/model/cpu/linear.hpp>
#include <seqtrain/model/cpu/packed_factor.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// The weights of an LSTM layer or their gradients, as torch has them: gates one after the other.
template <class Number>
struct LstmWeights {
  Number* input;   ///< [4 · hidden, in]
  Number* hidden;  ///< [4 · hidden, hidden]
  Number* bias_input;
  Number* bias_hidden;
};

/// The sizes of an LSTM layer's pass. Units are padded to whole panels.
struct LstmSizes {
  std::size_t rows, steps, in, hidden;

  [[nodiscard]] std::size_t panels() const {
    return (hidden + kernels::lstm_units - 1) / kernels::lstm_units;
  }
  [[nodiscard]] std::size_t units() const { return panels() * kernels::lstm_units; }
  [[nodiscard]] std::size_t gates() const { return panels() * panel; }
  [[nodiscard]] std::size_t words() const { return rows * steps; }
  /// Returns the number of words of all steps, padded for the gradients of weights.
  [[nodiscard]] std::size_t padded() const { return round_up(words(), padded_to); }
  [[nodiscard]] std::size_t ld_input() const { return round_up(in, padded_to); }
  [[nodiscard]] std::size_t ld_hidden() const { return round_up(hidden, padded_to); }
  /// Returns how many units of a panel exist.
  [[nodiscard]] std::size_t existing(std::size_t index) const {
    return std::min(kernels::lstm_units, hidden - index * kernels::lstm_units);
  }
  /// Sets `row` to the row of the weight matrix that is row `i` of a packed panel. Returns false if
  /// there is no such row.
  [[nodiscard]] bool row_of(std::size_t index, std::size_t i, std::size_t& row) const {
    const std::size_t unit = index * kernels::lstm_units + i % kernels::lstm_units;
    row = i / kernels::lstm_units * hidden + unit;
    return unit < hidden;
  }
};

/// Memory that passes share, because no pass needs it after its end.
template <class T>
struct LstmWorkspace {
  PackedFactor<T> input, hidden;
  PackedInputs<T> packed_input, packed_hidden;
  Buffer<float> sums;     ///< [panels, words, 64]
  Buffer<T> d_gates;      ///< [padded words, gates]
  Buffer<float> d_cells;  ///< [rows, units]
  /// Memory of one thread.
  struct Scratch {
    Buffer<float> block;
    Buffer<T> transposed;
  };
  std::vector<Scratch> scratch;

  [[nodiscard]] Scratch* for_workers() {
    scratch.resize(tensor::workers());
    return scratch.data();
  }
};

/// The data that a layer's forward pass over a stretch of text keeps for the backward pass. Steps
/// are the outer dimension: word (step, row) is number step · rows + row.
template <class T>
struct LstmKept {
  LstmSizes sizes{};
  Buffer<T> inputs;     ///< [padded words, ld_input]
  Buffer<T> hidden;     ///< [words and one step more, ld_hidden], the state before each step
  Buffer<float> cells;  ///< [steps + 1, rows, units]
  Buffer<T> gates;      ///< [panels, words, 64]

  /// Returns the hidden states before a step.
  [[nodiscard]] T* hidden_at(std::size_t step) const {
    return hidden.data() + step * sizes.rows * sizes.ld_hidden();
  }
  /// Returns the cells before a step.
  [[nodiscard]] float* cells_at(std::size_t step) const {
    return cells.data() + step * sizes.rows * sizes.units();
  }
};

/// Packs a weight of the gates [4 · hidden, in].
template <class T>
void pack_gates(const LstmSizes& sizes, const float* weight, std::size_t in,
                typename PackedFactor<T>::For passes, PackedFactor<T>& to) {
  to.pack(sizes.panels(), in, passes, [&](std::size_t index, std::size_t i) {
    std::size_t row;
    return sizes.row_of(index, i, row) ? weight + row * in : nullptr;
  });
}

}  // namespace seqtrain::model::cpu
