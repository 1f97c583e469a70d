#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <seqtrain/data/encoded_set.hpp>

namespace seqtrain::tests {

/// Returns the ids of a row.
inline std::vector<std::int32_t> row_of(const data::EncodedSet& set, std::size_t row) {
  std::vector<std::int32_t> ids(set.length(row));
  set.copy_row(row, ids.data());
  return ids;
}

}  // namespace seqtrain::tests
