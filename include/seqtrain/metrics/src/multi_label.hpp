#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include <Eigen/Core>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/multi_label.hpp>

namespace seqtrain::metrics {

SEQTRAIN_SEPARATE ClassificationReport make_multi_label_report(const Confusion& counts,
                                                               double accuracy, double loss) {
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

SEQTRAIN_SEPARATE void MultiLabel::add(const Logits& logits, std::span<const float> targets) {
  if (counts_.rows() == 0) counts_ = Confusion::Zero(logits.cols(), label_counts);
  if (logits.cols() != counts_.rows() || static_cast<std::size_t>(logits.size()) != targets.size())
    throw Error{std::to_string(logits.size()) + " logits, but " + std::to_string(targets.size()) +
                " targets"};
  const Eigen::Map<const Logits> truth{targets.data(), logits.rows(), logits.cols()};
  for (Eigen::Index row = 0; row < logits.rows(); ++row) {
    if (!std::isnan(truth(row, 0))) add_row(logits.row(row), truth.row(row));
  }
}

SEQTRAIN_SEPARATE ClassificationReport MultiLabel::report() const {
  const auto decisions = static_cast<double>(counts_.sum());
  const auto examples = decisions / static_cast<double>(counts_.rows());
  auto report = make_multi_label_report(counts_, static_cast<double>(exact_) / examples);
  report.figures = {{.name = "micro_f1", .value = micro_average(counts_).f1},
                    {.name = "macro_f1", .value = report.macro_average().f1}};
  return report;
}

template <class Row, class Truth>
void MultiLabel::add_row(const Row& logits, const Truth& truth) {
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

}  // namespace seqtrain::metrics
