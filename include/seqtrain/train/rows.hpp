#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <span>
#include <string>

namespace seqtrain::train {

/// Returns the examples of a step for people, `rows 3, 17`: their places in the training set, or
/// only their number if batches have no `row_ids`. After 64 places the list ends with the number.
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
