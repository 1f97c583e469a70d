#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace seqtrain::train {

/// Returns the rows of a step's examples as text, such as `rows 3, 17`, or only their number if
/// batches have no `row_ids`. Past 64 rows the text ends with their number.
template <class Batch>
std::string describe_rows(std::span<const Batch> batches) {
  constexpr std::size_t shown = 64;
  std::string text;
  std::size_t count = 0;
  for (const Batch& batch : batches) {
    if constexpr (requires { batch.row_ids; }) {
      for (const auto row : batch.row_ids) {
        if (count++ < shown) text += (text.empty() ? "rows " : ", ") + std::to_string(row);
      }
    } else {
      count += static_cast<std::size_t>(batch.rows);
    }
  }
  if (text.empty()) return std::to_string(count) + " rows";
  return count <= shown ? text : text + ", … (" + std::to_string(count) + " of them)";
}

}  // namespace seqtrain::train
