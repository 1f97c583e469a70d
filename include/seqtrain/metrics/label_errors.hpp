#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <seqtrain/core/error.hpp>

namespace seqtrain::metrics {

/// A row whose label is probably wrong.
struct LabelError {
  std::size_t row = 0;
  std::size_t label = 0;      ///< the given label
  std::size_t suggested = 0;  ///< the label that the row more likely has
  double score = 0;           ///< the score of the given label
};

/// The result of confident learning: the labels of a set that are probably wrong.
struct LabelErrors {
  /// The rows whose labels are probably wrong, the least likely label first.
  std::vector<LabelError> rows = {};
  /// [given label, likely label]: the rows that are confidently of a label, counted. At least 1 on
  /// the diagonal.
  Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> joint = {};
  /// [labels], the mean score of a label among the rows that have it; above 1 if there is none.
  std::vector<double> thresholds = {};
};

/// The scores of labels [rows, labels], each row a distribution.
using LabelScores2d = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace detail {

constexpr double nearly = 1e-6;  // cleanlab's tolerance of comparisons

/// Returns the thresholds of `LabelErrors`.
inline std::vector<double> confident_thresholds(const LabelScores2d& scores,
                                                std::span<const std::int32_t> labels) {
  constexpr double never = 2;
  const auto width = static_cast<std::size_t>(scores.cols());
  std::vector<double> sums(width, 0), counts(width, 0);
  for (std::size_t row = 0; row < labels.size(); ++row) {
    const auto label = static_cast<std::size_t>(labels[row]);
    sums[label] += scores(static_cast<Eigen::Index>(row), labels[row]);
    ++counts[label];
  }
  for (std::size_t label = 0; label < width; ++label) {
    sums[label] = counts[label] > 0 ? std::max(sums[label] / counts[label], 2 * nearly) : never;
  }
  return sums;
}

/// Returns the label of which a row confidently is: the one with the greatest score of those that
/// reach their thresholds, or -1 if none does.
inline Eigen::Index confident_label(const LabelScores2d& scores, Eigen::Index row,
                                    std::span<const double> thresholds) {
  Eigen::Index found = -1;
  std::size_t reached = 0;
  for (Eigen::Index label = 0; label < scores.cols(); ++label) {
    if (scores(row, label) < thresholds[static_cast<std::size_t>(label)] - nearly) continue;
    if (++reached == 1) found = label;
  }
  if (reached > 1) scores.row(row).maxCoeff(&found);
  return found;
}

}  // namespace detail

/// Finds labels that are probably wrong by confident learning (Northcutt et al. 2021): a row is
/// confidently of a label if its score reaches the mean score of that label's own rows. A row is an
/// error if it is confidently of another label than its own, which also has a greater score. The
/// results are those of cleanlab's `find_label_issues` with `filter_by="confident_learning"`,
/// ranked by `self_confidence`. `scores` must be of a model that has not learned from the row:
/// out-of-fold scores, by cross-validation. `labels` [rows] are ids of labels. Throws `InputError`
/// if they do not fit the scores or a score is not in 0 to 1.
[[nodiscard]] inline LabelErrors find_label_errors(const LabelScores2d& scores,
                                                   std::span<const std::int32_t> labels) {
  const Demand demand{"label errors"};
  const Eigen::Index width = scores.cols();
  demand(width >= 2, "scores", "must be of at least two labels");
  demand(static_cast<std::size_t>(scores.rows()) == labels.size(), "labels",
         "must be one for each row of scores");
  demand(std::ranges::all_of(labels, [&](auto id) { return id >= 0 && id < width; }), "labels",
         "must be ids of the labels that have scores");
  demand((scores.array() >= 0 && scores.array() <= 1 + detail::nearly).all(), "scores",
         "must be 0 to 1");
  LabelErrors found;
  found.thresholds = detail::confident_thresholds(scores, labels);
  found.joint.setZero(width, width);
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    const Eigen::Index given = labels[static_cast<std::size_t>(row)];
    const Eigen::Index likely = detail::confident_label(scores, row, found.thresholds);
    if (likely < 0) continue;
    ++found.joint(given, likely);
    const double score = scores(row, given);
    if (likely == given || score + detail::nearly >= scores.row(row).maxCoeff()) continue;
    found.rows.push_back({.row = static_cast<std::size_t>(row),
                          .label = static_cast<std::size_t>(given),
                          .suggested = static_cast<std::size_t>(likely),
                          .score = score});
  }
  found.joint.diagonal() = found.joint.diagonal().cwiseMax(1);
  std::ranges::stable_sort(found.rows, {}, &LabelError::score);
  return found;
}

}  // namespace seqtrain::metrics
