#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/correlation.hpp>
#include <seqtrain/metrics/logits.hpp>

namespace seqtrain::metrics {

/// Computes the mean squared error and the correlations of predictions and targets over a stream of
/// batches. It keeps two numbers for each example, because ranks need all of them.
class Regression {
 public:
  /// Adds logits [rows, 1] and targets [rows]. Rows of NaN have no target and are left out. Throws
  /// `Error` if they do not fit together.
  void add(const Logits& logits, std::span<const float> targets) {
    if (logits.cols() != 1 || static_cast<std::size_t>(logits.rows()) != targets.size()) {
      throw Error{std::to_string(logits.size()) + " logits, but " + std::to_string(targets.size()) +
                  " targets"};
    }
    for (std::size_t row = 0; row < targets.size(); ++row) {
      if (std::isnan(targets[row])) continue;
      said_.push_back(logits(static_cast<Eigen::Index>(row), 0));
      true_.push_back(targets[row]);
    }
  }

  [[nodiscard]] ClassificationReport report() const {
    ClassificationReport report{.problem_type = ProblemType::regression,
                                .examples = static_cast<std::int64_t>(said_.size())};
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const bool any = !said_.empty();
    report.figures = {{.name = "mean_squared_error", .value = any ? mean_squared_error() : none},
                      {.name = "pearson", .value = any ? pearson(said_, true_) : none},
                      {.name = "spearman", .value = any ? spearman(said_, true_) : none}};
    return report;
  }

 private:
  [[nodiscard]] double mean_squared_error() const {
    double sum = 0;
    for (std::size_t i = 0; i < said_.size(); ++i) {
      sum += (said_[i] - true_[i]) * (said_[i] - true_[i]);
    }
    return sum / static_cast<double>(said_.size());
  }

  std::vector<double> said_;
  std::vector<double> true_;
};

}  // namespace seqtrain::metrics
