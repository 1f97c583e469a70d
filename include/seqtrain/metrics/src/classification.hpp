#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/metric.hpp>

namespace seqtrain::metrics {

SEQTRAIN_SEPARATE LabelScores macro_average(std::span<const LabelScores> labels,
                                            ProblemType problem_type) {
  LabelScores mean;
  double count = 0;
  for (const LabelScores& label : labels) {
    const bool occurs = label.support > 0 || label.predicted > 0;
    if (!occurs && problem_type == ProblemType::single_label) continue;
    ++count;
    mean.precision += label.precision;
    mean.recall += label.recall;
    mean.f1 += label.f1;
    mean.support += label.support;
    mean.predicted += label.predicted;
  }
  for (double* sum : {&mean.precision, &mean.recall, &mean.f1}) *sum /= std::max(count, 1.0);
  return mean;
}

SEQTRAIN_SEPARATE ClassificationReport make_report(const Confusion& confusion, double loss) {
  ClassificationReport report{.examples = confusion.sum(), .loss = loss, .confusion = confusion};
  for (Eigen::Index label = 0; label < confusion.rows(); ++label) {
    report.labels.push_back(scores(confusion, label));
  }
  if (report.examples > 0) {
    report.accuracy = static_cast<double>(confusion.trace()) / static_cast<double>(report.examples);
  }
  return report;
}

SEQTRAIN_SEPARATE void Classification::add(const Logits& logits,
                                           std::span<const std::int64_t> labels) {
  if (num_labels() == 0) resize(logits.cols());
  check(logits, labels);
  for (Eigen::Index row = 0; row < logits.rows(); ++row) {
    const std::int64_t label = labels[static_cast<std::size_t>(row)];
    if (label < 0) continue;
    ++confusion_(label, argmax(logits.row(row)));
  }
}

SEQTRAIN_SEPARATE void Classification::merge(const Classification& other) {
  if (other.num_labels() == 0) return;
  if (num_labels() == 0) resize(other.num_labels());
  if (num_labels() != other.num_labels()) {
    throw Error{"metrics of different numbers of labels cannot be merged"};
  }
  confusion_ += other.confusion_;
}

SEQTRAIN_SEPARATE void Classification::check(const Logits& logits,
                                             std::span<const std::int64_t> labels) const {
  if (logits.cols() != num_labels()) {
    throw Error{"logits of " + std::to_string(logits.cols()) + " labels, expected " +
                std::to_string(num_labels())};
  }
  if (static_cast<std::size_t>(logits.rows()) != labels.size()) {
    throw Error{std::to_string(logits.rows()) + " rows of logits, but " +
                std::to_string(labels.size()) + " labels"};
  }
  for (const std::int64_t label : labels) {
    if (label < -1 || label >= num_labels()) {
      throw Error{"label " + std::to_string(label) + " is not one of the model's " +
                  std::to_string(num_labels())};
    }
  }
}

SEQTRAIN_SEPARATE double matthews_correlation(const Confusion& confusion) {
  const Eigen::MatrixXd counts = confusion.cast<double>();
  const Eigen::VectorXd truly = counts.rowwise().sum();
  const Eigen::VectorXd predicted = counts.colwise().sum().transpose();
  const double all = counts.sum();
  const double both = counts.trace() * all - truly.dot(predicted);
  const double spread = (all * all - truly.squaredNorm()) * (all * all - predicted.squaredNorm());
  return spread > 0 ? both / std::sqrt(spread) : 0.0;
}

SEQTRAIN_SEPARATE void append(json::Writer& out, const LabelScores& scores) {
  out.begin_object()
      .member("precision", scores.precision)
      .member("recall", scores.recall)
      .member("f1", scores.f1)
      .member("support", scores.support)
      .end_object();
}

SEQTRAIN_SEPARATE void append(json::Writer& out, const std::vector<Figure>& figures,
                              std::string_view member) {
  if (figures.empty()) return;
  out.key(member).begin_object();
  for (const auto& [name, value] : figures) out.member(name, value);
  out.end_object();
}

}  // namespace seqtrain::metrics
