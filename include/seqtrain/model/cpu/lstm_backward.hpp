#pragma once

#include <algorithm>
#include <cstddef>

#include <seqtrain/kernels/lstm_cell.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/lstm_layout.hpp>
#include <seqtrain/model/cpu/packed_factor.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {

/// A layer's backward pass.
template <class T>
class LstmBackward {
 public:
  LstmBackward(const LstmKept<T>& kept, LstmWorkspace<T>& space)
      : sizes_{kept.sizes}, kept_{kept}, space_{space} {}

  /// Computes the gradients of x, unless `d_x` is null, and of the weights, unless
  /// `d_weights.input` is null, from the gradient of y.
  void operator()(const LstmWeights<const float>& weights, const float* d_y, float* d_x,
                  const LstmWeights<float>& d_weights) {
    using For = typename PackedFactor<T>::For;
    pack_gates<T>(sizes_, weights.hidden, sizes_.hidden, For::backward, space_.hidden);
    d_gates(d_y);
    if (d_weights.input != nullptr) write_weights(d_weights);
    if (d_x == nullptr) return;
    pack_gates<T>(sizes_, weights.input, sizes_.in, For::backward, space_.input);
    d_inputs(d_x);
  }

 private:
  using Scratch = typename LstmWorkspace<T>::Scratch;

  /// Computes the gradients of all gates, from the last step to the first.
  void d_gates(const float* d_y) const {
    const std::size_t ld = sizes_.gates(), rows = sizes_.rows, words = sizes_.words();
    T* const d_gates = space_.d_gates.reserve(sizes_.padded() * ld);
    std::fill_n(d_gates + words * ld, (sizes_.padded() - words) * ld, T{});
    float* const d_cells = space_.d_cells.reserve(rows * sizes_.units());
    std::fill_n(d_cells, rows * sizes_.units(), 0.0F);
    const ColumnPanels units{sizes_.units()};
    Scratch* const scratch = space_.for_workers();
    for (std::size_t step = sizes_.steps; step-- > 0;) {
      tensor::for_each_task(units.count(), [&](std::size_t index, std::size_t worker) {
        const TileGuard tiles;
        const std::size_t columns = units.columns(index);
        float* const block = scratch[worker].block.reserve(rows * panel);
        if (step + 1 < sizes_.steps) {
          multiply_panel(rows, ld, d_gates + (step + 1) * rows * ld, ld,
                         space_.hidden.backward(index), block, panel, false, columns);
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
    kernels::lstm_backward<T>(
        {.rows = sizes_.rows,
         .units = sizes_.existing(index),
         .d_hidden = d_y + step * sizes_.hidden + unit,
         .ld_hidden = sizes_.steps * sizes_.hidden,
         .d_input = d_input,
         .ld_d_input = panel,
         .gates = kept_.gates.data() + (index * sizes_.words() + first) * panel,
         .cell_before = kept_.cells_at(step) + unit,
         .cell = kept_.cells_at(step + 1) + unit,
         .d_cell = d_cells + unit,
         .ld_cell = sizes_.units(),
         .d_gates = d_gates + first * sizes_.gates() + index * panel,
         .ld_d_gates = sizes_.gates()});
  }

  void write_weights(const LstmWeights<float>& to) const {
    space_.packed_input.pack(kept_.inputs.data(), sizes_.ld_input(), sizes_.padded(), sizes_.in);
    space_.packed_hidden.pack(kept_.hidden.data(), sizes_.ld_hidden(), sizes_.padded(),
                              sizes_.hidden);
    Scratch* const scratch = space_.for_workers();
    tensor::for_each_task(sizes_.panels(), [&](std::size_t index, std::size_t worker) {
      const TileGuard tiles;
      T* const transposed = scratch[worker].transposed.reserve(sizes_.padded() * panel);
      float* const block = scratch[worker].block.reserve(panel * panel);
      float sums[panel] = {};
      space_.packed_input.transpose(space_.d_gates.data() + index * panel, sizes_.gates(),
                                    transposed, sums);
      for (std::size_t i = 0; i < panel; ++i) {
        std::size_t row;
        if (sizes_.row_of(index, i, row)) to.bias_input[row] = to.bias_hidden[row] = sums[i];
      }
      write_weights(space_.packed_input, index, transposed, block, to.input);
      write_weights(space_.packed_hidden, index, transposed, block, to.hidden);
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

  void d_inputs(float* d_x) const {
    constexpr std::size_t most = 256;
    const ColumnPanels& inputs = space_.input.inputs();
    const std::size_t ld = sizes_.gates(), blocks = (sizes_.words() + most - 1) / most;
    Scratch* const scratch = space_.for_workers();
    tensor::for_each_task(blocks * inputs.count(), [&](std::size_t task, std::size_t worker) {
      const TileGuard tiles;
      const std::size_t index = task / blocks, first = task % blocks * most;
      const std::size_t count = std::min(most, sizes_.words() - first);
      float* const block = scratch[worker].block.reserve(most * panel);
      multiply_panel(count, ld, space_.d_gates.data() + first * ld, ld,
                     space_.input.backward(index), block, panel, false, inputs.columns(index));
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t step = (first + i) / sizes_.rows, row = (first + i) % sizes_.rows;
        std::copy_n(block + i * panel, inputs.existing(index),
                    d_x + (row * sizes_.steps + step) * sizes_.in + index * panel);
      }
    });
  }

  LstmSizes sizes_;
  const LstmKept<T>& kept_;
  LstmWorkspace<T>& space_;
};

}  // namespace seqtrain::model::cpu
