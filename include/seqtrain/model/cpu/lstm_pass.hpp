#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <seqtrain/kernels/lstm_cell.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/packed_factor.hpp>
#include <seqtrain/tensor/parallel.hpp>

namespace seqtrain::model::cpu {

/// The weights of an LSTM layer or their gradients, as torch has them: gates one after the other.
template <class Number>
struct LstmWeights {
  Number* input;   ///< [4 · hidden, in]
  Number* hidden;  ///< [4 · hidden, hidden]
  Number* bias_input;
  Number* bias_hidden;
};

struct LstmSizes {
  std::size_t rows, steps, in, hidden;

  [[nodiscard]] std::size_t panels() const {
    return (hidden + kernels::lstm_units - 1) / kernels::lstm_units;
  }
  [[nodiscard]] std::size_t units() const { return panels() * kernels::lstm_units; }
  [[nodiscard]] std::size_t gates() const { return panels() * panel; }
  [[nodiscard]] std::size_t words() const { return rows * steps; }
  /// Words of all steps, padded for the gradients of weights.
  [[nodiscard]] std::size_t padded() const { return round_up(words(), padded_to); }
  [[nodiscard]] std::size_t ld_input() const { return round_up(in, padded_to); }
  [[nodiscard]] std::size_t ld_hidden() const { return round_up(hidden, padded_to); }
  /// Units of a panel that exist.
  [[nodiscard]] std::size_t existing(std::size_t index) const {
    return std::min(kernels::lstm_units, hidden - index * kernels::lstm_units);
  }
  /// The row of a weight matrix that row `i` of a packed panel is; false if there is none.
  [[nodiscard]] bool row_of(std::size_t index, std::size_t i, std::size_t& row) const {
    const std::size_t unit = index * kernels::lstm_units + i % kernels::lstm_units;
    row = i / kernels::lstm_units * hidden + unit;
    return unit < hidden;
  }
};

/// Memory that passes share because none needs it after its end.
template <class T>
struct LstmWorkspace {
  PackedFactor<T> input, hidden;
  PackedInputs<T> packed_input, packed_hidden;
  Buffer<float> sums;     ///< [panels, words, 64]
  Buffer<T> d_gates;      ///< [padded words, gates]
  Buffer<float> d_cells;  ///< [rows, units]
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

/// One layer's forward pass over a stretch of text, and what its backward pass reads. Steps are the
/// outer dimension here: word (step, row) is number step · rows + row.
template <class T>
class LstmPass {
 public:
  /// Computes the hidden states y [rows, steps, hidden] and the last cells [rows, hidden] from
  /// x [rows, steps, in] and the state before the first step.
  void forward(const LstmSizes& sizes, const LstmWeights<const float>& weights, const float* x,
               const float* h, const float* c, float* y, float* last_cells,
               LstmWorkspace<T>& space) {
    sizes_ = sizes;
    const std::size_t panels = sizes.panels(), words = sizes.words();
    take_state(h, c);
    take_inputs(x);
    pack(weights.input, sizes.in, PackedFactor<T>::For::forward, space.input);
    pack(weights.hidden, sizes.hidden, PackedFactor<T>::For::forward, space.hidden);
    T* const gates = gates_.reserve(panels * words * panel);
    float* const sums = sums_memory(space);
    const std::vector<float> bias = biases(weights);
    tensor::for_each_task(panels, [&](std::size_t index, std::size_t) {
      const TileGuard tiles;
      multiply_panel(words, space.input.depth(), inputs_.data(), sizes.ld_input(),
                     space.input.forward(index), sums + index * words * panel, panel, false);
    });
    for (std::size_t step = 0; step < sizes.steps; ++step) {
      tensor::for_each_task(panels, [&](std::size_t index, std::size_t) {
        const TileGuard tiles;
        const std::size_t block = (index * words + step * sizes.rows) * panel;
        multiply_panel(sizes.rows, space.hidden.depth(), hidden_at(step), sizes.ld_hidden(),
                       space.hidden.forward(index), sums + block, panel, true);
        const std::size_t unit = index * kernels::lstm_units;
        kernels::lstm_forward<T>({.rows = sizes.rows,
                                  .units = sizes.existing(index),
                                  .sums = sums + block,
                                  .bias = bias.data() + index * panel,
                                  .cell_before = cells_at(step) + unit,
                                  .gates = gates + block,
                                  .cell = cells_at(step + 1) + unit,
                                  .ld_cell = sizes.units(),
                                  .input = hidden_at(step + 1) + unit,
                                  .ld_input = sizes.ld_hidden(),
                                  .hidden = y + step * sizes.hidden + unit,
                                  .ld_hidden = sizes.steps * sizes.hidden});
      });
    }
    for (std::size_t row = 0; row < sizes.rows; ++row) {
      std::copy_n(cells_at(sizes.steps) + row * sizes.units(), sizes.hidden,
                  last_cells + row * sizes.hidden);
    }
  }

  /// Computes the gradients of x, unless `d_x` is null, and of the weights, unless
  /// `d_weights.input` is null, from the gradient of y.
  void backward(const LstmWeights<const float>& weights, const float* d_y, float* d_x,
                const LstmWeights<float>& d_weights, LstmWorkspace<T>& space) const {
    pack(weights.hidden, sizes_.hidden, PackedFactor<T>::For::backward, space.hidden);
    d_gates(d_y, space);
    if (d_weights.input != nullptr) add_weights(d_weights, space);
    if (d_x == nullptr) return;
    pack(weights.input, sizes_.in, PackedFactor<T>::For::backward, space.input);
    d_inputs(d_x, space);
  }

  [[nodiscard]] const LstmSizes& sizes() const { return sizes_; }

 private:
  using Scratch = typename LstmWorkspace<T>::Scratch;

  [[nodiscard]] T* hidden_at(std::size_t step) const {
    return hidden_.data() + step * sizes_.rows * sizes_.ld_hidden();
  }
  [[nodiscard]] float* cells_at(std::size_t step) const {
    return cells_.data() + step * sizes_.rows * sizes_.units();
  }

  /// fp32's gates take the place of the sums.
  float* sums_memory(LstmWorkspace<T>& space) {
    if constexpr (std::is_same_v<T, float>) return gates_.data();
    return space.sums.reserve(sizes_.panels() * sizes_.words() * panel);
  }

  void take_state(const float* h, const float* c) {
    const std::size_t ld = sizes_.ld_hidden();
    const std::size_t after = std::max(sizes_.words() + sizes_.rows, sizes_.padded());
    T* const hidden = hidden_.reserve(after * ld);
    std::fill_n(hidden, after * ld, T{});
    float* const cells = cells_.reserve((sizes_.steps + 1) * sizes_.rows * sizes_.units());
    for (std::size_t row = 0; row < sizes_.rows; ++row) {
      copy_padded(h + row * sizes_.hidden, sizes_.hidden, ld, hidden + row * ld);
      copy_padded(c + row * sizes_.hidden, sizes_.hidden, sizes_.units(),
                  cells + row * sizes_.units());
    }
  }

  void take_inputs(const float* x) {
    const std::size_t ld = sizes_.ld_input();
    T* const inputs = inputs_.reserve(sizes_.padded() * ld);
    tensor::for_each_task(sizes_.steps, [&](std::size_t step, std::size_t) {
      for (std::size_t row = 0; row < sizes_.rows; ++row) {
        copy_padded(x + (row * sizes_.steps + step) * sizes_.in, sizes_.in, ld,
                    inputs + (step * sizes_.rows + row) * ld);
      }
    });
    std::fill_n(inputs + sizes_.words() * ld, (sizes_.padded() - sizes_.words()) * ld, T{});
  }

  void pack(const float* weight, std::size_t in, typename PackedFactor<T>::For passes,
            PackedFactor<T>& to) const {
    to.pack(sizes_.panels(), in, passes, [&](std::size_t index, std::size_t i) {
      std::size_t row;
      return sizes_.row_of(index, i, row) ? weight + row * in : nullptr;
    });
  }

  [[nodiscard]] std::vector<float> biases(const LstmWeights<const float>& weights) const {
    std::vector<float> bias(sizes_.gates());
    for (std::size_t i = 0; i < bias.size(); ++i) {
      std::size_t row;
      if (!sizes_.row_of(i / panel, i % panel, row)) continue;
      bias[i] = weights.bias_input[row] + weights.bias_hidden[row];
    }
    return bias;
  }

  /// Computes the gradients of all gates, from the last step to the first.
  void d_gates(const float* d_y, LstmWorkspace<T>& space) const {
    const std::size_t ld = sizes_.gates(), rows = sizes_.rows, words = sizes_.words();
    T* const d_gates = space.d_gates.reserve(sizes_.padded() * ld);
    std::fill_n(d_gates + words * ld, (sizes_.padded() - words) * ld, T{});
    float* const d_cells = space.d_cells.reserve(rows * sizes_.units());
    std::fill_n(d_cells, rows * sizes_.units(), 0.0F);
    const ColumnPanels units{sizes_.units()};
    Scratch* const scratch = space.for_workers();
    for (std::size_t step = sizes_.steps; step-- > 0;) {
      tensor::for_each_task(units.count(), [&](std::size_t index, std::size_t worker) {
        const TileGuard tiles;
        const std::size_t columns = units.columns(index);
        float* const block = scratch[worker].block.reserve(rows * panel);
        if (step + 1 < sizes_.steps) {
          multiply_panel(rows, ld, d_gates + (step + 1) * rows * ld, ld,
                         space.hidden.backward(index), block, panel, false, columns);
        } else {
          std::fill_n(block, rows * panel, 0.0F);
        }
        for (std::size_t unit = 0; unit < columns; unit += kernels::lstm_units) {
          step_back(step, index * panel + unit, block + unit, d_y, d_cells, d_gates);
        }
      });
    }
  }

  void step_back(std::size_t step, std::size_t unit, const float* d_input, const float* d_y,
                 float* d_cells, T* d_gates) const {
    const std::size_t index = unit / kernels::lstm_units, first = step * sizes_.rows;
    kernels::lstm_backward<T>({.rows = sizes_.rows,
                               .units = sizes_.existing(index),
                               .d_hidden = d_y + step * sizes_.hidden + unit,
                               .ld_hidden = sizes_.steps * sizes_.hidden,
                               .d_input = d_input,
                               .ld_d_input = panel,
                               .gates = gates_.data() + (index * sizes_.words() + first) * panel,
                               .cell_before = cells_at(step) + unit,
                               .cell = cells_at(step + 1) + unit,
                               .d_cell = d_cells + unit,
                               .ld_cell = sizes_.units(),
                               .d_gates = d_gates + first * sizes_.gates() + index * panel,
                               .ld_d_gates = sizes_.gates()});
  }

  void add_weights(const LstmWeights<float>& to, LstmWorkspace<T>& space) const {
    space.packed_input.pack(inputs_.data(), sizes_.ld_input(), sizes_.padded(), sizes_.in);
    space.packed_hidden.pack(hidden_.data(), sizes_.ld_hidden(), sizes_.padded(), sizes_.hidden);
    Scratch* const scratch = space.for_workers();
    tensor::for_each_task(sizes_.panels(), [&](std::size_t index, std::size_t worker) {
      const TileGuard tiles;
      T* const transposed = scratch[worker].transposed.reserve(sizes_.padded() * panel);
      float* const block = scratch[worker].block.reserve(panel * panel);
      float sums[panel] = {};
      space.packed_input.transpose(space.d_gates.data() + index * panel, sizes_.gates(), transposed,
                                   sums);
      for (std::size_t i = 0; i < panel; ++i) {
        std::size_t row;
        if (sizes_.row_of(index, i, row)) to.bias_input[row] = to.bias_hidden[row] = sums[i];
      }
      write_weights(space.packed_input, index, transposed, block, to.input);
      write_weights(space.packed_hidden, index, transposed, block, to.hidden);
    });
  }

  void write_weights(const PackedInputs<T>& packed, std::size_t index, const T* transposed,
                     float* block, float* to) const {
    const ColumnPanels& inputs = packed.inputs();
    for (std::size_t i = 0; i < inputs.count(); ++i) {
      packed.multiply(transposed, i, block);
      for (std::size_t gate = 0; gate < panel; ++gate) {
        std::size_t row;
        if (!sizes_.row_of(index, gate, row)) continue;
        std::copy_n(block + gate * panel, inputs.existing(i), to + row * inputs.width + i * panel);
      }
    }
  }

  void d_inputs(float* d_x, LstmWorkspace<T>& space) const {
    constexpr std::size_t most = 256;
    const ColumnPanels& inputs = space.input.inputs();
    const std::size_t ld = sizes_.gates(), blocks = (sizes_.words() + most - 1) / most;
    Scratch* const scratch = space.for_workers();
    tensor::for_each_task(blocks * inputs.count(), [&](std::size_t task, std::size_t worker) {
      const TileGuard tiles;
      const std::size_t index = task / blocks, first = task % blocks * most;
      const std::size_t count = std::min(most, sizes_.words() - first);
      float* const block = scratch[worker].block.reserve(most * panel);
      multiply_panel(count, ld, space.d_gates.data() + first * ld, ld, space.input.backward(index),
                     block, panel, false, inputs.columns(index));
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t step = (first + i) / sizes_.rows, row = (first + i) % sizes_.rows;
        std::copy_n(block + i * panel, inputs.existing(index),
                    d_x + (row * sizes_.steps + step) * sizes_.in + index * panel);
      }
    });
  }

  LstmSizes sizes_{};
  Buffer<T> inputs_;     // [padded words, ld_input]
  Buffer<T> hidden_;     // [words and one step more, ld_hidden], the state before each step
  Buffer<float> cells_;  // [steps + 1, rows, units]
  Buffer<T> gates_;      // [panels, words, 64]
};

}  // namespace seqtrain::model::cpu
