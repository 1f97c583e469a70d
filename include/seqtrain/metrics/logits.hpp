#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include <Eigen/Core>

namespace seqtrain::metrics {

/// The logits of a batch: [rows, num_labels], row-major, before any softmax.
using Logits = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Tells whether no logit of a row is NaN or infinite. A row of others has no label and no scores.
[[nodiscard]] inline bool all_finite(std::span<const float> row) {
  return std::ranges::all_of(row, [](float logit) { return std::isfinite(logit); });
}

}  // namespace seqtrain::metrics
