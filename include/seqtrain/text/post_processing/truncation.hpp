#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

namespace seqtrain::text {

/// The number of ids that each text of a pair keeps.
struct PairLengths {
  std::size_t first = 0;
  std::size_t second = 0;

  bool operator==(const PairLengths&) const = default;
};

/// Truncates a pair by Hugging Face's `longest_first`: the longer text is cut until both fill the
/// budget, but not below the length of the shorter one. If they still exceed the budget, each keeps
/// half of it. An odd id goes to the text that was longer, or to the second if they were equal.
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
