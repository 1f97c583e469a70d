#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

SEQTRAIN_SEPARATE double r_squared(std::span<const double> predictions,
                                   std::span<const double> targets) {
  if (predictions.size() != targets.size())
    throw Error{"R squared of different numbers of figures"};
  double mean = 0, squares = 0, variance = 0;
  for (const double target : targets) mean += target;
  mean /= static_cast<double>(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    squares += (predictions[i] - targets[i]) * (predictions[i] - targets[i]);
    variance += (targets[i] - mean) * (targets[i] - mean);
  }
  return variance > 0 ? 1 - squares / variance : std::numeric_limits<double>::quiet_NaN();
}

SEQTRAIN_SEPARATE double mean_absolute_error(std::span<const double> predictions,
                                             std::span<const double> targets) {
  if (predictions.size() != targets.size()) throw Error{"errors of different numbers of figures"};
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) sum += std::abs(predictions[i] - targets[i]);
  return sum / static_cast<double>(targets.size());
}

namespace detail {

inline double mean_squared_error(std::span<const double> predictions,
                                 std::span<const double> targets) {
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    sum += (predictions[i] - targets[i]) * (predictions[i] - targets[i]);
  }
  return sum / static_cast<double>(targets.size());
}

}  // namespace detail

SEQTRAIN_SEPARATE double Regression::Target::figure(std::string_view name) const {
  if (predictions.empty()) return std::numeric_limits<double>::quiet_NaN();
  if (name == "mean_squared_error") return detail::mean_squared_error(predictions, targets);
  if (name == "pearson") return pearson(predictions, targets);
  if (name == "spearman") return spearman(predictions, targets);
  return name == "r_squared" ? r_squared(predictions, targets)
                             : mean_absolute_error(predictions, targets);
}

SEQTRAIN_SEPARATE Regression::Regression(std::vector<std::string> names)
    : names_{std::move(names)}, targets_(names_.size()) {}

SEQTRAIN_SEPARATE void Regression::add(const Logits& logits, std::span<const float> targets) {
  const auto width = static_cast<std::size_t>(logits.cols());
  if (targets_.empty()) targets_.resize(width);
  if (width == 0 || width != targets_.size() ||
      static_cast<std::size_t>(logits.size()) != targets.size()) {
    throw Error{std::to_string(logits.size()) + " logits, but " + std::to_string(targets.size()) +
                " targets"};
  }
  for (std::size_t row = 0; row * width < targets.size(); ++row) {
    const auto numbers = targets.subspan(row * width, width);
    if (std::ranges::any_of(numbers, [](float number) { return std::isnan(number); })) continue;
    for (std::size_t k = 0; k < width; ++k) {
      targets_[k].predictions.push_back(
          logits(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(k)));
      targets_[k].targets.push_back(numbers[k]);
    }
  }
}

SEQTRAIN_SEPARATE ClassificationReport Regression::report() const {
  const std::size_t examples = targets_.empty() ? 0 : targets_.front().predictions.size();
  ClassificationReport report{.problem_type = ProblemType::regression,
                              .examples = static_cast<std::int64_t>(examples)};
  for (const char* name : {"mean_squared_error", "pearson", "spearman"}) {
    report.figures.push_back({.name = name, .value = mean(name)});
  }
  if (targets_.size() < 2) return report;
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    report.targets.push_back(label_name(names_, k));
    for (const std::string_view name : target_figures) {
      report.figures.push_back(
          {.name = target_figure(report.targets.back(), name), .value = targets_[k].figure(name)});
    }
  }
  return report;
}

SEQTRAIN_SEPARATE double Regression::mean(std::string_view name) const {
  if (targets_.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const Target& target : targets_) sum += target.figure(name);
  return sum / static_cast<double>(targets_.size());
}

}  // namespace seqtrain::metrics
