#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace seqtrain::metrics {

/// The area under the receiver operating characteristic.
struct RocAuc {
  double area =
      std::numeric_limits<double>::quiet_NaN();  ///< NaN if a class has no score, or one is NaN
  double standard_error = std::numeric_limits<double>::quiet_NaN();  ///< Hanley and McNeil 1982
};

/// Returns the probability that a score of the class 1 is greater than one of the class 0, where
/// equal scores count half, as scikit-learn's `roc_auc_score` computes it. `is_one` has the class
/// of each score.
[[nodiscard]] inline RocAuc roc_auc(std::span<const double> scores,
                                    const std::vector<bool>& is_one) {
  if (std::ranges::any_of(scores, [](double score) { return std::isnan(score); })) return {};
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return scores[i]; });
  double ranks = 0;  // the sum of the ranks of class 1, counted from 1; equal scores share theirs
  std::size_t ones_in_all = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    std::size_t ones = 0;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end) {
      ones += is_one[order[end]] ? 1 : 0;
    }
    ranks += static_cast<double>(ones) * (static_cast<double>(begin + end + 1) / 2);
    ones_in_all += ones;
  }
  const auto ones = static_cast<double>(ones_in_all);
  const double zeros = static_cast<double>(scores.size()) - ones;
  if (ones == 0 || zeros == 0) return {};
  const double area = (ranks - ones * (ones + 1) / 2) / (ones * zeros);
  const double q1 = area / (2 - area), q2 = 2 * area * area / (1 + area);
  const double variance =
      area * (1 - area) + (ones - 1) * (q1 - area * area) + (zeros - 1) * (q2 - area * area);
  return {area, std::sqrt(std::max(0.0, variance) / (ones * zeros))};
}

}  // namespace seqtrain::metrics
