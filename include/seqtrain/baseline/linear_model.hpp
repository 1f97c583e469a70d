#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

#include <seqtrain/baseline/sparse_rows.hpp>
#include <seqtrain/baseline/tiled_rows.hpp>
#include <seqtrain/core/separate_compilation.hpp>

namespace seqtrain::baseline {

/// The loss of a linear model's outputs for one row.
enum class Loss {
  softmax,  ///< cross-entropy of one label of several, which may be a distribution
  sigmoid,  ///< cross-entropy of each output by itself
  squared   ///< half of the squared difference
};

/// The examples of a linear model: rows of numbers with their targets, and the loss.
struct LinearData {
  const TiledRows& rows;
  std::size_t outputs = 1;
  std::vector<float> targets;  ///< [rows, outputs]
  Loss loss = Loss::softmax;
  /// The weights of an output's target 1 and of its target 0, or empty if all are 1. The weight of
  /// a row with the loss `softmax` is that of its target 1.
  std::vector<float> weights_of_one = {};
  std::vector<float> weights_of_zero = {};
};

/// Options of `fit_linear`.
struct LinearOptions {
  double penalty = 1;       ///< the factor of the squares of the weights
  int most_steps = 200;     ///< the most steps of the search
  double tolerance = 1e-3;  ///< the search ends when the gradient is so many times its first length
  std::size_t threads = 1;
  std::stop_token stop = {};  ///< ends the search at its next step
};

/// A linear layer of rows to outputs.
struct LinearModel {
  std::vector<float> weights;  ///< [columns, outputs]
  std::vector<float> bias;     ///< [outputs]

  /// Sets `outputs` to the outputs for a row.
  void apply(std::span<const Entry> row, std::span<float> outputs) const {
    std::ranges::copy(bias, outputs.begin());
    for (const auto& [column, value] : row) {
      const float* const weight = weights.data() + column * bias.size();
      for (std::size_t k = 0; k < bias.size(); ++k) outputs[k] += value * weight[k];
    }
  }
};

/// Returns the linear model with the smallest loss and penalty. For one thread or many it is the
/// same to the bit.
[[nodiscard]] SEQTRAIN_SEPARATE LinearModel fit_linear(const LinearData& data,
                                                       const LinearOptions& options = {});

}  // namespace seqtrain::baseline

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/baseline/src/linear_model.hpp>
#endif
