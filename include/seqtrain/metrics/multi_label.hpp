#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include <Eigen/Core>

#include <seqtrain/core/separate_compilation.hpp>
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
SEQTRAIN_SEPARATE ClassificationReport
make_multi_label_report(const Confusion& counts, double accuracy,
                        double loss = std::numeric_limits<double>::quiet_NaN());

/// Computes the scores of each label as a binary classifier with the threshold 0.5, and the
/// fraction of examples with exactly the right labels, over a stream of batches. It keeps counts,
/// not logits.
class MultiLabel {
 public:
  /// Adds a batch with targets [rows, labels] of 0 and 1. Rows of NaN have no labels and are left
  /// out. Throws `Error` if logits and targets do not fit together.
  void add(const Logits& logits, std::span<const float> targets);

  [[nodiscard]] ClassificationReport report() const;

 private:
  template <class Row, class Truth>
  void add_row(const Row& logits, const Truth& truth);

  Confusion counts_ = Confusion::Zero(0, label_counts);  ///< [labels, 4]
  std::int64_t exact_ = 0;
};

}  // namespace seqtrain::metrics

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/metrics/src/multi_label.hpp>
#endif
