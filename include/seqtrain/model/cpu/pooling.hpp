#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/model/cpu/layout.hpp>
#include <seqtrain/model/nn/pooling.hpp>

namespace seqtrain::model::cpu {

/// Returns memory for an encoder's result: [rows, hidden], or [rows, width, hidden] without
/// pooling.
inline at::Tensor empty_result(const data::Batch& batch, Pooling pooling, std::size_t hidden) {
  const auto size = static_cast<std::int64_t>(hidden);
  if (pooling != Pooling::none) return at::empty({batch.rows, size}, at::kFloat);
  return at::empty({batch.rows, batch.width, size}, at::kFloat);
}

/// Computes the mean [hidden] of the hidden states [count, hidden] of a sequence.
inline void pool(const float* states, std::size_t count, std::size_t hidden, float* mean) {
  std::fill_n(mean, hidden, 0.0F);
  for (std::size_t token = 0; token < count; ++token, states += hidden) {
    for (std::size_t i = 0; i < hidden; ++i) mean[i] += states[i];
  }
  for (std::size_t i = 0; i < hidden; ++i) mean[i] /= static_cast<float>(count);
}

/// Computes the mean of each sequence's hidden states. `states` [rows, hidden] begin at the run's
/// first row; `means` are [sequences, hidden].
inline void pool(const Layout& layout, const Layout::Run& run, const float* states,
                 std::size_t hidden, float* means) {
  layout.for_each_sequence(run, [&](const Layout::Sequence& sequence, std::size_t s, std::size_t) {
    pool(states + (sequence.row - run.row) * hidden, sequence.length, hidden, means + s * hidden);
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

/// Returns the number of each sequence's last token that is not `padding_id`, or 0 if it has no
/// other, as `model::last_tokens` counts. If `padding_id` is below 0, all tokens count.
inline std::vector<std::size_t> last_tokens_of(const data::Batch& batch, std::int64_t padding_id) {
  std::vector<std::size_t> result;
  for (std::size_t s = 0; s < batch.lengths.size(); ++s) {
    const auto* const ids = batch.input_ids.data() + s * static_cast<std::size_t>(batch.width);
    auto last = static_cast<std::size_t>(batch.lengths[s]) - 1;
    while (padding_id >= 0 && last > 0 && ids[last] == padding_id) --last;
    result.push_back(last);
  }
  return result;
}

/// Copies the state of each sequence's token with the number `last` to `result` [sequences,
/// hidden]. `states` [rows, hidden] begin at the run's first row.
inline void take_last(const Layout& layout, const Layout::Run& run,
                      const std::vector<std::size_t>& last, const float* states, std::size_t hidden,
                      float* result) {
  layout.for_each_sequence(run, [&](const Layout::Sequence& sequence, std::size_t s, std::size_t) {
    std::copy_n(states + (sequence.row - run.row + last[s]) * hidden, hidden, result + s * hidden);
  });
}

/// Computes the gradient of each hidden state, which is zero but for the tokens that `take_last`
/// took.
inline void take_last_backward(const Layout& layout, const Layout::Run& run,
                               const std::vector<std::size_t>& last, const float* d_result,
                               std::size_t hidden, float* d_states) {
  std::fill_n(d_states, run.rows * hidden, 0.0F);
  layout.for_each_sequence(run, [&](const Layout::Sequence& sequence, std::size_t s, std::size_t) {
    std::copy_n(d_result + s * hidden, hidden,
                d_states + (sequence.row - run.row + last[s]) * hidden);
  });
}

/// Copies the hidden states [count, hidden] of a sequence, and adds zeros up to `width` tokens.
inline void pad(const float* states, std::size_t count, std::size_t hidden, std::size_t width,
                float* tokens) {
  float* const end = std::copy_n(states, count * hidden, tokens);
  std::fill_n(end, (width - count) * hidden, 0.0F);
}

/// Copies each sequence's hidden states to `tokens` [sequences, width, hidden], with zeros after
/// them. `states` [rows, hidden] begin at the run's first row.
inline void pad(const Layout& layout, const Layout::Run& run, const float* states,
                std::size_t hidden, std::size_t width, float* tokens) {
  layout.for_each_sequence(run, [&](const Layout::Sequence& sequence, std::size_t s, std::size_t) {
    pad(states + (sequence.row - run.row) * hidden, sequence.length, hidden, width,
        tokens + s * width * hidden);
  });
}

/// Computes the gradient of each hidden state, which is zero in rows without a token.
inline void pad_backward(const Layout& layout, const Layout::Run& run, const float* d_tokens,
                         std::size_t hidden, std::size_t width, float* d_states) {
  std::fill_n(d_states, run.rows * hidden, 0.0F);
  layout.for_each_sequence(run, [&](const Layout::Sequence& sequence, std::size_t s, std::size_t) {
    std::copy_n(d_tokens + s * width * hidden, sequence.length * hidden,
                d_states + (sequence.row - run.row) * hidden);
  });
}

}  // namespace seqtrain::model::cpu
