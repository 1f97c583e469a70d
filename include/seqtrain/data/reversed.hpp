#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <seqtrain/data/encoded_set.hpp>

namespace seqtrain::data {

/// Returns a set whose texts run from the last word to the first, for models that were trained
/// backwards. A whole row counts as one segment.
[[nodiscard]] inline EncodedSet reversed(const EncodedSet& set) {
  EncodedSet result{set.vocab_size(), set.pad_id(), set.targets_a_row()};
  std::vector<std::int32_t> ids;
  for (std::size_t row = 0; row < set.size(); ++row) {
    ids.resize(set.length(row));
    set.copy_row(row, ids.data());
    std::ranges::reverse(ids);
    result.push_back(ids, ids.size(), set.label(row), set.targets(row));
  }
  return result;
}

}  // namespace seqtrain::data
