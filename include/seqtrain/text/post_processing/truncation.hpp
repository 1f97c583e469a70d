#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

namespace seqtrain::text {

/// Ids that a pair keeps of its halves.
struct PairLengths {
  std::size_t first = 0;
  std::size_t second = 0;

  bool operator==(const PairLengths&) const = default;
};

/// Hugging Face's `longest_first`: the longer half is cut down to the shorter; if they still do not
/// fit both keep half the budget, and the odd id stays with the half that was longer, the second
/// of equals.
[[nodiscard]] constexpr PairLengths longest_first(PairLengths lengths, std::size_t budget) {
  auto [shorter, longer] = lengths;
  if (shorter + longer <= budget) return lengths;
  const bool swapped = shorter > longer;
  if (swapped) std::swap(shorter, longer);
  longer = shorter > budget ? shorter : std::max(shorter, budget - shorter);
  if (shorter + longer > budget) {
    shorter = budget / 2;
    longer = shorter + budget % 2;
  }
  if (swapped) std::swap(shorter, longer);
  return {shorter, longer};
}

}  // namespace seqtrain::text
