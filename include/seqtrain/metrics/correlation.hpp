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

/// Pearson's correlation of two figures of each example. NaN where one is the same for all, as in
/// SciPy. Throws `Error` where their numbers differ.
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

/// The places of figures in their order, counted from 1; equal ones share the mean of theirs. All
/// NaN where one is.
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

/// Spearman's correlation: Pearson's of the ranks.
inline double spearman(std::span<const double> x, std::span<const double> y) {
  return pearson(ranks(x), ranks(y));
}

}  // namespace seqtrain::metrics
