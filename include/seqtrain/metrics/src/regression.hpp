#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/metrics/regression.hpp>

namespace seqtrain::metrics {

SEQTRAIN_SEPARATE double pearson(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw Error{"correlation of different numbers of figures"};
  const auto centred = [](std::span<const double> figures) {
    const Eigen::Map<const Eigen::ArrayXd> all{figures.data(),
                                               static_cast<Eigen::Index>(figures.size())};
    return Eigen::ArrayXd{all - all.sum() / static_cast<double>(all.size())};
  };
  const Eigen::ArrayXd a = centred(x);
  const Eigen::ArrayXd b = centred(y);
  const double spread = std::sqrt(a.square().sum()) * std::sqrt(b.square().sum());
  return std::clamp((a * b).sum() / spread, -1.0, 1.0);
}

SEQTRAIN_SEPARATE std::vector<double> ranks(std::span<const double> figures) {
  for (const double figure : figures) {
    if (std::isnan(figure)) return std::vector<double>(figures.size(), figure);
  }
  std::vector<std::size_t> order(figures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [figures](std::size_t i) { return figures[i]; });
  std::vector<double> result(figures.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && figures[order[end]] == figures[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      result[order[i]] = static_cast<double>(begin + end + 1) / 2;
    }
  }
  return result;
}

SEQTRAIN_SEPARATE void Regression::add(const Logits& logits, std::span<const float> targets) {
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

SEQTRAIN_SEPARATE ClassificationReport Regression::report() const {
  ClassificationReport report{.problem_type = ProblemType::regression,
                              .examples = static_cast<std::int64_t>(said_.size())};
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const bool any = !said_.empty();
  report.figures = {{.name = "mean_squared_error", .value = any ? mean_squared_error() : none},
                    {.name = "pearson", .value = any ? pearson(said_, true_) : none},
                    {.name = "spearman", .value = any ? spearman(said_, true_) : none}};
  return report;
}

SEQTRAIN_SEPARATE double Regression::mean_squared_error() const {
  double sum = 0;
  for (std::size_t i = 0; i < said_.size(); ++i) {
    sum += (said_[i] - true_[i]) * (said_[i] - true_[i]);
  }
  return sum / static_cast<double>(said_.size());
}

}  // namespace seqtrain::metrics
