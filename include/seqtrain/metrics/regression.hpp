#pragma once

#include <span>
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

/// Computes the mean squared error and the correlations of predictions and targets over a stream of
/// batches. It keeps two numbers for each example, because ranks need all of them.
class Regression {
 public:
  /// Adds logits [rows, 1] and targets [rows]. Rows of NaN have no target and are left out. Throws
  /// `Error` if they do not fit together.
  void add(const Logits& logits, std::span<const float> targets);

  [[nodiscard]] ClassificationReport report() const;

 private:
  [[nodiscard]] double mean_squared_error() const;

  std::vector<double> said_;
  std::vector<double> true_;
};

}  // namespace seqtrain::metrics

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/metrics/src/regression.hpp>
#endif
