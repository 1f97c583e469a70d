#pragma once

#include <Eigen/Core>

namespace seqtrain::metrics {

/// The logits of a batch: [rows, num_labels], row-major, before any softmax.
using Logits = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace seqtrain::metrics
