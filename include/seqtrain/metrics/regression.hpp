#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/logits.hpp>

namespace seqtrain::metrics {

/// Returns Pearson's correlation of two lists, or NaN if one list is constant, as in SciPy. Throws
/// `Error` if their sizes differ.
SEQTRAIN_SEPARATE double pearson(std::span<const double> x, std::span<const double> y);

/// Returns the ranks of numbers, counted from 1. Equal numbers share the mean of their ranks. If a
/// number is NaN, so are all ranks.
SEQTRAIN_SEPARATE std::vector<double> ranks(std::span<const double> figures);

/// Returns Spearman's correlation, which is Pearson's correlation of the ranks.
inline double spearman(std::span<const double> x, std::span<const double> y) {
  return pearson(ranks(x), ranks(y));
}

/// Returns the coefficient of determination: the share of the targets' variance that predictions
/// explain. It is 1 if they are exact, 0 if they are no better than the mean of the targets, and
/// NaN if all targets are equal. Throws `Error` if the sizes differ.
SEQTRAIN_SEPARATE double r_squared(std::span<const double> predictions,
                                   std::span<const double> targets);

/// Returns the mean of the absolute differences, or NaN for empty lists. Throws `Error` if the
/// sizes differ.
SEQTRAIN_SEPARATE double mean_absolute_error(std::span<const double> predictions,
                                             std::span<const double> targets);

/// The figures of each of several targets.
inline constexpr std::array<std::string_view, 5> target_figures{
    "mean_squared_error", "pearson", "spearman", "mean_absolute_error", "r_squared"};

/// Returns the name of a figure of one of several targets: `valence_pearson`.
inline std::string target_figure(std::string_view target, std::string_view figure) {
  return std::string{target} + "_" + std::string{figure};
}

/// Tells whether a name is that of a figure of one of these targets.
inline bool is_target_figure(std::string_view name, std::span<const std::string> targets) {
  return std::ranges::any_of(targets, [name](const std::string& target) {
    return std::ranges::any_of(target_figures, [&](const std::string_view figure) {
      return name == target_figure(target, figure);
    });
  });
}

/// Computes the mean squared error and the correlations of predictions and targets over a stream of
/// batches. It keeps two numbers for each example and target, because ranks need all of them. If
/// there are several targets, the squared error is the mean over all numbers and the correlations
/// are means over the targets, and each target has the figures `target_figures`.
class Regression {
 public:
  /// `names` are the names of the targets. If it is empty, the first batch tells their number.
  explicit Regression(std::vector<std::string> names = {});

  /// Adds logits and targets [rows, targets]. Rows with NaN have no targets and are left out.
  /// Throws `Error` if they do not fit together.
  void add(const Logits& logits, std::span<const float> targets);

  [[nodiscard]] ClassificationReport report() const;

 private:
  /// The numbers of a target.
  struct Target {
    std::vector<double> predictions = {};
    std::vector<double> targets = {};

    [[nodiscard]] double figure(std::string_view name) const;
  };

  /// Returns the mean of a figure over the targets.
  [[nodiscard]] double mean(std::string_view name) const;

  std::vector<std::string> names_;
  std::vector<Target> targets_;
};

}  // namespace seqtrain::metrics

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/metrics/src/regression.hpp>
#endif
