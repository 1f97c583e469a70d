#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include <seqtrain/metrics/classification.hpp>

namespace seqtrain::metrics {

/// Returns the correlation of true and predicted labels, from -1 to 1, for any number of labels:
/// R_K of Gorodkin 2004, which for two labels is Matthews' coefficient. It is 0 if all true labels
/// or all predicted labels are equal, as in scikit-learn.
inline double matthews_correlation(const Confusion& confusion) {
  const Eigen::MatrixXd counts = confusion.cast<double>();
  const Eigen::VectorXd truly = counts.rowwise().sum();
  const Eigen::VectorXd predicted = counts.colwise().sum().transpose();
  const double all = counts.sum();
  const double both = counts.trace() * all - truly.dot(predicted);
  const double spread = (all * all - truly.squaredNorm()) * (all * all - predicted.squaredNorm());
  return spread > 0 ? both / std::sqrt(spread) : 0.0;
}

/// A `Metric` that computes `matthews_correlation`.
class Matthews {
 public:
  static constexpr std::string_view name = "matthews_correlation";

  void add(const Logits& logits, std::span<const std::int64_t> labels) {
    counts_.add(logits, labels);
  }
  void merge(const Matthews& other) { counts_.merge(other.counts_); }
  [[nodiscard]] double value() const { return matthews_correlation(counts_.report().confusion); }

 private:
  Classification counts_;
};

}  // namespace seqtrain::metrics
