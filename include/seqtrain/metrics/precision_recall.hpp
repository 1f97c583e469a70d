#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/metrics/classification.hpp>

namespace seqtrain::metrics {

/// Precision and recall of a binary classifier that says yes to every score of at least `score`.
struct Operating {
  double score = 0;
  double precision = 0;
  double recall = 0;

  [[nodiscard]] double f1() const {
    const double sum = precision + recall;
    return sum == 0 ? 0 : 2 * precision * recall / sum;
  }
};

/// Returns precision and recall at each distinct score, the highest first: the points of
/// scikit-learn's `precision_recall_curve` in reverse order, without the last one at recall 0.
/// Recall is 0 if no example is positive. Throws `Error` if the sizes differ.
inline std::vector<Operating> precision_recall(std::span<const double> scores,
                                               std::span<const std::uint8_t> positive) {
  if (scores.size() != positive.size()) throw Error{"the numbers of scores and answers differ"};
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater{}, [scores](std::size_t i) { return scores[i]; });
  const auto all = std::accumulate(positive.begin(), positive.end(), std::int64_t{0});
  std::vector<Operating> curve;
  std::int64_t hits = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    hits += positive[order[i]];
    if (i + 1 < order.size() && scores[order[i + 1]] == scores[order[i]]) continue;
    const LabelScores at = metrics::scores(all, static_cast<std::int64_t>(i + 1), hits);
    curve.push_back({.score = scores[order[i]], .precision = at.precision, .recall = at.recall});
  }
  return curve;
}

/// Returns the average precision of a curve: the sum of each precision times the increase of
/// recall, as scikit-learn's `average_precision_score`.
inline double average_precision(std::span<const Operating> curve) {
  double sum = 0, recall = 0;
  for (const Operating& at : curve) {
    sum += at.precision * (at.recall - recall);
    recall = at.recall;
  }
  return sum;
}

/// A threshold for the score of a label, with the precision and recall that it gives.
struct Threshold {
  double above = 0.5;  ///< the label is predicted if its score is above this
  double precision = 0;
  double recall = 0;
};

namespace detail {

/// Returns the threshold halfway between a score of the curve and the next lower score, which is 0
/// for the last one.
inline Threshold threshold_at(std::span<const Operating> curve, std::size_t i) {
  const double next = i + 1 < curve.size() ? curve[i + 1].score : 0;
  return {.above = (curve[i].score + next) / 2,
          .precision = curve[i].precision,
          .recall = curve[i].recall};
}

}  // namespace detail

/// Returns the threshold with the greatest F1, the highest if several are equal. Returns 0.5 if no
/// example has the label.
inline Threshold best_f1_threshold(std::span<const Operating> curve) {
  const auto best = std::ranges::max_element(curve, {}, &Operating::f1);
  if (best == curve.end() || best->f1() == 0) return {};
  return detail::threshold_at(curve, static_cast<std::size_t>(best - curve.begin()));
}

/// Returns the threshold with the greatest recall among those of at least that precision. If there
/// is none, returns 1, at which the label is never predicted.
inline Threshold threshold_of_precision(std::span<const Operating> curve, double precision) {
  for (std::size_t i = curve.size(); i-- > 0;) {
    if (curve[i].precision >= precision && curve[i].recall > 0) {
      return detail::threshold_at(curve, i);
    }
  }
  return {.above = 1};
}

}  // namespace seqtrain::metrics
