#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <seqtrain/core/error.hpp>

namespace seqtrain::metrics {

/// Returns Pearson's correlation of two lists, or NaN if one list is constant, as in SciPy. Throws
/// `Error` if their sizes differ.
inline double pearson(std::span<const double> x, std::span<const double> y) {
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

/// Returns the ranks of numbers, counted from 1. Equal numbers share the mean of their ranks. If a
/// number is NaN, so are all ranks.
inline std::vector<double> ranks(std::span<const double> figures) {
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

/// Returns Spearman's correlation, which is Pearson's correlation of the ranks.
inline double spearman(std::span<const double> x, std::span<const double> y) {
  return pearson(ranks(x), ranks(y));
}

}  // namespace seqtrain::metrics
