#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

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
  double mean = 0, absolute = 0, squares = 0, variance = 0;
  std::int64_t count = 0;
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      if (!predictions.labelled(i)) continue;
      use(predictions.targets_of(i)[target], predictions.logits_of(i)[target]);
    }
  };
  each([&](double truth, double) {
    mean += truth;
    ++count;
  });
  if (count == 0) return {};
  const auto examples = static_cast<double>(count);
  mean /= examples;
  each([&](double truth, double predicted) {
    absolute += std::abs(predicted - truth);
    squares += (predicted - truth) * (predicted - truth);
    variance += (truth - mean) * (truth - mean);
  });
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {.examples = count,
          .mean_absolute_error = absolute / examples,
          .r_squared = variance > 0 ? 1 - squares / variance : none};
}

}  // namespace seqtrain::run
