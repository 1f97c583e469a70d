#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include <seqtrain/metrics/regression.hpp>
#include <seqtrain/run/kept_predictions.hpp>

namespace seqtrain::run {

/// The deviation says how far predicted numbers are from the true ones. Figures of no examples are
/// NaN.
struct Deviation {
  std::int64_t examples = 0;  ///< the number of examples that have a target
  double mean_absolute_error = std::numeric_limits<double>::quiet_NaN();
  /// The share of the targets' variance that the predictions explain: 1 if they are exact, 0 if
  /// they are no better than the mean of the targets. NaN if all targets are equal.
  double r_squared = std::numeric_limits<double>::quiet_NaN();
};

/// Returns the deviation of predictions of a model of numbers, those of one of its targets.
[[nodiscard]] inline Deviation deviation(const Predictions& predictions, std::size_t target = 0) {
  std::vector<double> predicted, targets;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    if (!predictions.labelled(i)) continue;
    predicted.push_back(predictions.logits_of(i)[target]);
    targets.push_back(predictions.targets_of(i)[target]);
  }
  if (targets.empty()) return {};
  return {.examples = std::ssize(targets),
          .mean_absolute_error = metrics::mean_absolute_error(predicted, targets),
          .r_squared = metrics::r_squared(predicted, targets)};
}

}  // namespace seqtrain::run
