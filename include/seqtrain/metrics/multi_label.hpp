#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <Eigen/Core>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>

namespace seqtrain::metrics {

/// The columns of the counts of a label, in the order of scikit-learn's
/// `multilabel_confusion_matrix`.
enum LabelCounts : Eigen::Index {
  true_negatives,
  false_positives,
  false_negatives,
  true_positives
};
/// The number of counts of a label.
inline constexpr Eigen::Index label_counts = 4;

/// Returns the scores of a label from its counts [4].
template <class Row>
LabelScores binary_scores(const Row& counts) {
  const std::int64_t hits = counts[true_positives];
  return scores(counts[false_negatives] + hits, counts[false_positives] + hits, hits);
}

/// Returns the scores over all labels' decisions together, the micro average.
inline LabelScores micro_average(const Confusion& counts) {
  return binary_scores(counts.colwise().sum());
}

/// Returns the figures that follow from the counts [labels, 4]. `accuracy` is the fraction of
/// examples with exactly the right labels, `loss` the mean loss if it is known.
inline ClassificationReport make_multi_label_report(
    const Confusion& counts, double accuracy,
    double loss = std::numeric_limits<double>::quiet_NaN()) {
  ClassificationReport report{.problem_type = ProblemType::multi_label,
                              .accuracy = accuracy,
                              .loss = loss,
                              .confusion = counts};
  if (counts.rows() > 0) report.examples = counts.row(0).sum();
  for (Eigen::Index label = 0; label < counts.rows(); ++label) {
    report.labels.push_back(binary_scores(counts.row(label)));
  }
  return report;
}

/// Computes the scores of each label as a binary classifier with the threshold 0.5, and the
/// fraction of examples with exactly the right labels, over a stream of batches. It keeps counts,
/// not logits.
class MultiLabel {
 public:
  /// Adds a batch with targets [rows, labels] of 0 and 1. Rows of NaN have no labels and are left
  /// out. Throws `Error` if logits and targets do not fit together.
  void add(const Logits& logits, std::span<const float> targets) {
    if (counts_.rows() == 0) counts_ = Confusion::Zero(logits.cols(), label_counts);
    if (logits.cols() != counts_.rows() ||
        static_cast<std::size_t>(logits.size()) != targets.size())
      throw Error{std::to_string(logits.size()) + " logits, but " + std::to_string(targets.size()) +
                  " targets"};
    const Eigen::Map<const Logits> truth{targets.data(), logits.rows(), logits.cols()};
    for (Eigen::Index row = 0; row < logits.rows(); ++row) {
      if (!std::isnan(truth(row, 0))) add_row(logits.row(row), truth.row(row));
    }
  }

  [[nodiscard]] ClassificationReport report() const {
    const auto decisions = static_cast<double>(counts_.sum());
    const auto examples = decisions / static_cast<double>(counts_.rows());
    auto report = make_multi_label_report(counts_, static_cast<double>(exact_) / examples);
    report.figures = {{.name = "micro_f1", .value = micro_average(counts_).f1},
                      {.name = "macro_f1", .value = report.macro_average().f1}};
    return report;
  }

 private:
  template <class Row, class Truth>
  void add_row(const Row& logits, const Truth& truth) {
    bool all_right = true;
    for (Eigen::Index label = 0; label < logits.size(); ++label) {
      const bool said = logits[label] > 0;  // sigmoid above 0.5
      const bool is = truth[label] > 0.5F;
      ++counts_(label, is ? (said ? true_positives : false_negatives)
                          : (said ? false_positives : true_negatives));
      all_right = all_right && said == is;
    }
    exact_ += all_right ? 1 : 0;
  }

  Confusion counts_ = Confusion::Zero(0, label_counts);  ///< [labels, 4]
  std::int64_t exact_ = 0;
};

}  // namespace seqtrain::metrics
