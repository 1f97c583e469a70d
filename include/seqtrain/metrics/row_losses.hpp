#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace seqtrain::metrics {

/// The losses of a batch's rows. The mean over several batches is the sum of loss · weight, divided
/// by the sum of the weights.
struct RowLosses {
  std::vector<double> losses = {};   ///< [rows]; NaN for a row without a label
  std::vector<double> weights = {};  ///< [rows]; 0 for a row without a label
};

/// The mean loss over a stream of batches.
class MeanRowLoss {
 public:
  /// Adds the rows that have a label.
  void add(const RowLosses& rows) {
    for (std::size_t i = 0; i < rows.losses.size(); ++i) {
      if (rows.weights[i] == 0) continue;
      sum_ += rows.losses[i] * rows.weights[i];
      weight_ += rows.weights[i];
    }
  }

  /// Returns NaN if there are no rows.
  [[nodiscard]] double value() const {
    return weight_ > 0 ? sum_ / weight_ : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

}  // namespace seqtrain::metrics
