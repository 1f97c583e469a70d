#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include <seqtrain/core/error.hpp>

namespace seqtrain::metrics {

/// Returns the population stability index of two distributions over the same bins: the sum of
/// (new − reference) · ln(new / reference). A share below 0.0001 counts as 0.0001, so that an empty
/// bin gives no infinity. Below 0.1 it is usually read as stable, above 0.25 as a great change.
/// Throws `Error` if the numbers of bins differ.
[[nodiscard]] inline double stability_index(std::span<const double> reference,
                                            std::span<const double> current) {
  if (reference.size() != current.size()) {
    throw Error{"stability index of " + std::to_string(reference.size()) + " and " +
                std::to_string(current.size()) + " shares"};
  }
  constexpr double least = 1e-4;
  double sum = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double before = std::max(reference[i], least), now = std::max(current[i], least);
    sum += (now - before) * std::log(now / before);
  }
  return sum;
}

}  // namespace seqtrain::metrics
