#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/metric.hpp>

namespace seqtrain::metrics {

/// Counts of examples with label t (row) and prediction p (column): [num_labels, num_labels].
using Confusion = Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic>;

/// The scores of one label as a binary classifier. A score whose denominator is zero is 0, as in
/// scikit-learn with `zero_division=0`.
struct LabelScores {
  double precision = 0;
  double recall = 0;
  double f1 = 0;
  std::int64_t support = 0;    ///< examples that truly have this label
  std::int64_t predicted = 0;  ///< examples that are predicted to have this label
};

/// Returns the name of a label, or `LABEL_<index>` if it has none, as in transformers.
inline std::string label_name(std::span<const std::string> names, std::size_t label) {
  return label < names.size() ? names[label] : "LABEL_" + std::to_string(label);
}

/// Returns the name of a label for people: a line break in it is shown as `\n`.
inline std::string shown_label(std::span<const std::string> names, std::size_t label) {
  return shown(label_name(names, label));
}

/// Returns scores from three counts: examples with the label, examples predicted to have it, and
/// examples with both.
inline LabelScores scores(std::int64_t support, std::int64_t predicted, std::int64_t hits) {
  const auto ratio = [](std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return {.precision = ratio(hits, predicted),
          .recall = ratio(hits, support),
          .f1 = ratio(2 * hits, support + predicted),
          .support = support,
          .predicted = predicted};
}

/// Returns the mean of labels' scores, with the sums of their counts. If an example has one label,
/// labels that occur neither in the examples nor in the predictions are left out. scikit-learn's
/// `average="macro"` gives equal figures.
SEQTRAIN_SEPARATE LabelScores macro_average(std::span<const LabelScores> labels,
                                            ProblemType problem_type);

/// The figures over a set of examples. `accuracy` and `loss` are NaN if there are no examples.
/// Members that the problem type does not have are empty: regression has only `loss` and `figures`.
struct ClassificationReport {
  ProblemType problem_type = ProblemType::single_label;
  std::int64_t examples = 0;
  /// The fraction of examples whose predicted labels are exactly the gold labels.
  double accuracy = std::numeric_limits<double>::quiet_NaN();
  bool has_loss = true;  ///< false if the model does not tell the losses of rows
  /// The mean of the training loss.
  double loss = std::numeric_limits<double>::quiet_NaN();
  Confusion confusion = {};  ///< [true, predicted]; for multi-label [label, `LabelCounts`]
  std::vector<LabelScores> labels = {};
  std::vector<Figure> figures = {};  ///< figures of the problem type, and of the user's metrics
  std::vector<std::string> targets = {};  ///< names of the targets of a regression with several

  /// Returns the mean of the labels' scores, without labels that do not occur.
  [[nodiscard]] LabelScores macro_average() const {
    return metrics::macro_average(labels, problem_type);
  }
};

/// Returns the scores of a label from the confusion counts.
inline LabelScores scores(const Confusion& confusion, std::int64_t label) {
  return scores(confusion.row(label).sum(), confusion.col(label).sum(), confusion(label, label));
}

/// Returns all figures that follow from the confusion counts, with the mean loss if it is known.
SEQTRAIN_SEPARATE ClassificationReport
make_report(const Confusion& confusion, double loss = std::numeric_limits<double>::quiet_NaN());

/// Returns the index of the largest logit, the lowest index if several are equal. NaN counts as the
/// largest, as in NumPy and PyTorch, so a model that has diverged still has predictions, and a loss
/// of NaN.
template <class Row>
std::int64_t argmax(const Row& row) {
  Eigen::Index best = 0;
  for (Eigen::Index i = 0; i < row.size() && !std::isnan(row[best]); ++i) {
    if (row[i] > row[best] || std::isnan(row[i])) best = i;
  }
  return best;
}

/// Returns -log softmax(row)[label], in double.
template <class Row>
double cross_entropy(const Row& row, std::int64_t label) {
  const auto logits = row.template cast<double>().eval();
  const double largest = logits.maxCoeff();
  return largest + std::log((logits.array() - largest).exp().sum()) - logits[label];
}

/// Computes accuracy, confusion counts and the scores of each label over a stream of batches. It
/// keeps counts, not logits.
class Classification {
 public:
  /// Creates an evaluation without examples. If `num_labels` is 0, the first batch sets it.
  explicit Classification(std::int64_t num_labels = 0) { resize(num_labels); }

  /// Adds a batch. Rows with the label -1 have no label and are left out. Throws `Error` if logits
  /// and labels do not fit together.
  void add(const Logits& logits, std::span<const std::int64_t> labels);

  /// Adds the counts of another object, for example over another part of the set.
  void merge(const Classification& other);

  [[nodiscard]] ClassificationReport report() const { return make_report(confusion_); }

 private:
  [[nodiscard]] std::int64_t num_labels() const { return confusion_.rows(); }

  void resize(std::int64_t num_labels) { confusion_ = Confusion::Zero(num_labels, num_labels); }

  void check(const Logits& logits, std::span<const std::int64_t> labels) const;

  Confusion confusion_;
};

/// Returns the correlation of true and predicted labels, from -1 to 1, for any number of labels:
/// R_K of Gorodkin 2004, which for two labels is Matthews' coefficient. It is 0 if all true labels
/// or all predicted labels are equal, as in scikit-learn.
SEQTRAIN_SEPARATE double matthews_correlation(const Confusion& confusion);

/// A `Metric` that computes `matthews_correlation` of examples with one label.
class Matthews {
 public:
  static constexpr std::string_view name = "matthews_correlation";

  /// Tells whether the examples of a problem have the one label that it counts.
  [[nodiscard]] static bool counts(ProblemType type) { return type == ProblemType::single_label; }

  void add(const Logits& logits, std::span<const std::int64_t> labels) {
    counts_.add(logits, labels);
  }
  void merge(const Matthews& other) { counts_.merge(other.counts_); }
  [[nodiscard]] double value() const { return matthews_correlation(counts_.report().confusion); }

 private:
  Classification counts_;
};

/// Appends the precision, recall, F1 and support of a label as a JSON object.
SEQTRAIN_SEPARATE void append(json::Writer& out, const LabelScores& scores);

/// Appends the figures as one member, such as `"metrics": {name: value, …}`, if there are any.
SEQTRAIN_SEPARATE void append(json::Writer& out, const std::vector<Figure>& figures,
                              std::string_view member = "metrics");

}  // namespace seqtrain::metrics

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/metrics/src/classification.hpp>
#endif
