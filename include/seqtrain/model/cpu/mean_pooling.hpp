#pragma once

#include <algorithm>
#include <cstddef>

#include <seqtrain/model/cpu/layout.hpp>

namespace seqtrain::model::cpu {

/// Computes the mean of each sequence's hidden states. `states` [rows, hidden] begin at the run's
/// first row; `means` are [sequences, hidden].
inline void pool(const Layout& layout, const Layout::Run& run, const float* states,
                 std::size_t hidden, float* means) {
  layout.for_each_sequence(run, [&](const Layout::Sequence& sequence, std::size_t s, std::size_t) {
    float* const mean = means + s * hidden;
    std::fill_n(mean, hidden, 0.0F);
    const float* state = states + (sequence.row - run.row) * hidden;
    for (std::size_t token = 0; token < sequence.length; ++token, state += hidden) {
      for (std::size_t i = 0; i < hidden; ++i) mean[i] += state[i];
    }
    for (std::size_t i = 0; i < hidden; ++i) mean[i] /= static_cast<float>(sequence.length);
  });
}

/// Computes the gradient of each hidden state, which is zero in rows without a token.
inline void pool_backward(const Layout& layout, const Layout::Run& run, const float* d_means,
                          std::size_t hidden, float* d_states) {
  std::fill_n(d_states, run.rows * hidden, 0.0F);
  layout.for_each_sequence(run, [&](const Layout::Sequence& sequence, std::size_t s, std::size_t) {
    float* d_state = d_states + (sequence.row - run.row) * hidden;
    const float* const d_mean = d_means + s * hidden;
    for (std::size_t token = 0; token < sequence.length; ++token, d_state += hidden) {
      for (std::size_t i = 0; i < hidden; ++i) {
        d_state[i] = d_mean[i] / static_cast<float>(sequence.length);
      }
    }
  });
}

}  // namespace seqtrain::model::cpu
