#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <seqtrain/core/error.hpp>

namespace seqtrain::metrics {

/// The result of McNemar's test for two classifiers on the same examples.
struct McNemar {
  std::int64_t first_only = 0;   ///< examples that only the first predicts right
  std::int64_t second_only = 0;  ///< examples that only the second predicts right
  double p = 1;                  ///< probability of such a difference if both are equally good
};

/// Returns the two-sided probability of McNemar's exact test, SciPy's `binomtest(a, a + b, 0.5)`.
inline double mcnemar_p(std::int64_t first_only, std::int64_t second_only) {
  const auto all = static_cast<double>(first_only + second_only);
  const std::int64_t fewer = std::min(first_only, second_only);
  double sum = 0;
  for (std::int64_t i = 0; i <= fewer; ++i) {
    const auto k = static_cast<double>(i);
    sum += std::exp(std::lgamma(all + 1) - std::lgamma(k + 1) - std::lgamma(all - k + 1) -
                    all * std::log(2.0));
  }
  return std::min(1.0, 2 * sum);
}

/// Compares two classifiers by the examples that each predicts right. Throws `Error` if their
/// numbers of examples differ.
inline McNemar mcnemar(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second) {
  if (first.size() != second.size()) throw Error{"answers to different numbers of examples"};
  McNemar result;
  for (std::size_t i = 0; i < first.size(); ++i) {
    result.first_only += first[i] != 0 && second[i] == 0 ? 1 : 0;
    result.second_only += first[i] == 0 && second[i] != 0 ? 1 : 0;
  }
  result.p = mcnemar_p(result.first_only, result.second_only);
  return result;
}

}  // namespace seqtrain::metrics
