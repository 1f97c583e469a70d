#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>

namespace seqtrain::metrics {

/// The answers whose confidence lies in one interval.
struct ReliabilityBin {
  double low = 0;
  double high = 0;
  std::int64_t examples = 0;
  double confidence = 0;  ///< mean confidence
  double accuracy = 0;    ///< the share of right answers
};

/// Returns answers in bins of equal width by their confidence in [0, 1]. A bin contains its upper
/// bound and not its lower one (Guo et al. 2017). Throws `Error` if the sizes differ.
inline std::vector<ReliabilityBin> reliability(std::span<const double> confidence,
                                               std::span<const std::uint8_t> right,
                                               std::size_t bins = 10) {
  if (confidence.size() != right.size())
    throw Error{"the numbers of confidences and answers differ"};
  std::vector<ReliabilityBin> result(bins);
  const auto count = static_cast<double>(bins);
  for (std::size_t i = 0; i < confidence.size(); ++i) {
    const double place = std::ceil(confidence[i] * count) - 1;
    if (std::isnan(place)) continue;
    auto& bin = result[static_cast<std::size_t>(std::clamp(place, 0.0, count - 1))];
    ++bin.examples;
    bin.confidence += confidence[i];
    bin.accuracy += right[i];
  }
  for (std::size_t i = 0; i < bins; ++i) {
    auto& bin = result[i];
    bin.low = static_cast<double>(i) / count;
    bin.high = static_cast<double>(i + 1) / count;
    if (bin.examples == 0) continue;
    bin.confidence /= static_cast<double>(bin.examples);
    bin.accuracy /= static_cast<double>(bin.examples);
  }
  return result;
}

/// Returns the mean over the bins of |accuracy - confidence|, weighted by the number of answers.
inline double expected_calibration_error(std::span<const ReliabilityBin> bins) {
  double sum = 0;
  std::int64_t examples = 0;
  for (const auto& bin : bins) {
    sum += static_cast<double>(bin.examples) * std::abs(bin.accuracy - bin.confidence);
    examples += bin.examples;
  }
  return examples == 0 ? 0 : sum / static_cast<double>(examples);
}

/// Returns the mean cross-entropy of logits that are divided by a temperature.
inline double tempered_loss(const Logits& logits, std::span<const std::int64_t> labels,
                            double temperature) {
  double sum = 0;
  std::int64_t examples = 0;
  for (Eigen::Index row = 0; row < logits.rows(); ++row) {
    const std::int64_t label = labels[static_cast<std::size_t>(row)];
    if (label < 0) continue;
    sum += cross_entropy((logits.row(row).cast<double>() / temperature).eval(), label);
    ++examples;
  }
  return examples == 0 ? 0 : sum / static_cast<double>(examples);
}

/// Returns the temperature between 1/100 and 100 with the lowest mean cross-entropy (Guo et al.
/// 2017), by golden-section search over its logarithm. A temperature changes no decision.
inline double best_temperature(const Logits& logits, std::span<const std::int64_t> labels) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  const auto loss = [&](double log) { return tempered_loss(logits, labels, std::exp(log)); };
  double low = -std::log(100.0), high = std::log(100.0);
  double left = high - ratio * (high - low), right = low + ratio * (high - low);
  double at_left = loss(left), at_right = loss(right);
  while (high - low > 1e-7) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      at_left = loss(left = high - ratio * (high - low));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      at_right = loss(right = low + ratio * (high - low));
    }
  }
  return std::exp((low + high) / 2);
}

}  // namespace seqtrain::metrics
