#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <seqtrain/kernels/lstm_cell.hpp>
#include <seqtrain/model/cpu/gemm.hpp>
#include <seqtrain/model/cpu/lstm_layout.hpp>
#include <seqtrain/model/cpu/packed_factor.hpp>
#include <seqtrain/tensor/parallel.hpp>

namespace seqtrain::model::cpu {

/// A layer's forward pass.
template <class T>
class LstmForward {
 public:
  LstmForward(const LstmSizes& sizes, LstmKept<T>& kept, LstmWorkspace<T>& space)
      : sizes_{sizes}, kept_{kept}, space_{space} {
    kept.sizes = sizes;
  }

  /// Computes the hidden states y [rows, steps, hidden] and the last cells [rows, hidden] from
  /// x [rows, steps, in] and the state before the first step.
  void operator()(const LstmWeights<const float>& weights, const float* x, const float* h,
                  const float* c, float* y, float* last_cells) {
    const std::size_t panels = sizes_.panels(), words = sizes_.words();
    take_state(h, c);
    take_inputs(x);
    using For = typename PackedFactor<T>::For;
    pack_gates<T>(sizes_, weights.input, sizes_.in, For::forward, space_.input);
    pack_gates<T>(sizes_, weights.hidden, sizes_.hidden, For::forward, space_.hidden);
    T* const gates = kept_.gates.reserve(panels * words * panel);
    float* const sums = sums_memory();
    const std::vector<float> bias = biases(weights);
    tensor::for_each_task(panels, [&](std::size_t index, std::size_t) {
      const TileGuard tiles;
      multiply_panel(words, space_.input.depth(), kept_.inputs.data(), sizes_.ld_input(),
                     space_.input.forward(index), sums + index * words * panel, panel, false);
    });
    for (std::size_t step = 0; step < sizes_.steps; ++step) {
      tensor::for_each_task(panels, [&](std::size_t index, std::size_t) {
        const TileGuard tiles;
        const std::size_t block = (index * words + step * sizes_.rows) * panel;
        multiply_panel(sizes_.rows, space_.hidden.depth(), kept_.hidden_at(step),
                       sizes_.ld_hidden(), space_.hidden.forward(index), sums + block, panel, true);
        const std::size_t unit = index * kernels::lstm_units;
        kernels::lstm_forward<T>({.rows = sizes_.rows,
                                  .units = sizes_.existing(index),
                                  .sums = sums + block,
                                  .bias = bias.data() + index * panel,
                                  .cell_before = kept_.cells_at(step) + unit,
                                  .gates = gates + block,
                                  .cell = kept_.cells_at(step + 1) + unit,
                                  .ld_cell = sizes_.units(),
                                  .input = kept_.hidden_at(step + 1) + unit,
                                  .ld_input = sizes_.ld_hidden(),
                                  .hidden = y + step * sizes_.hidden + unit,
                                  .ld_hidden = sizes_.steps * sizes_.hidden});
      });
    }
    for (std::size_t row = 0; row < sizes_.rows; ++row) {
      std::copy_n(kept_.cells_at(sizes_.steps) + row * sizes_.units(), sizes_.hidden,
                  last_cells + row * sizes_.hidden);
    }
  }

 private:
  /// Returns the memory of the sums. In fp32 the gates use it too.
  float* sums_memory() {
    if constexpr (std::is_same_v<T, float>) return kept_.gates.data();
    return space_.sums.reserve(sizes_.panels() * sizes_.words() * panel);
  }

  void take_state(const float* h, const float* c) {
    const std::size_t ld = sizes_.ld_hidden();
    const std::size_t after = std::max(sizes_.words() + sizes_.rows, sizes_.padded());
    T* const hidden = kept_.hidden.reserve(after * ld);
    std::fill_n(hidden, after * ld, T{});
    float* const cells = kept_.cells.reserve((sizes_.steps + 1) * sizes_.rows * sizes_.units());
    for (std::size_t row = 0; row < sizes_.rows; ++row) {
      copy_padded(h + row * sizes_.hidden, sizes_.hidden, ld, hidden + row * ld);
      copy_padded(c + row * sizes_.hidden, sizes_.hidden, sizes_.units(),
                  cells + row * sizes_.units());
    }
  }

  void take_inputs(const float* x) {
    const std::size_t ld = sizes_.ld_input();
    T* const inputs = kept_.inputs.reserve(sizes_.padded() * ld);
    tensor::for_each_task(sizes_.steps, [&](std::size_t step, std::size_t) {
      for (std::size_t row = 0; row < sizes_.rows; ++row) {
        copy_padded(x + (row * sizes_.steps + step) * sizes_.in, sizes_.in, ld,
                    inputs + (step * sizes_.rows + row) * ld);
      }
    });
    std::fill_n(inputs + sizes_.words() * ld, (sizes_.padded() - sizes_.words()) * ld, T{});
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

  LstmSizes sizes_;
  LstmKept<T>& kept_;
  LstmWorkspace<T>& space_;
};

}  // namespace seqtrain::model::cpu
