#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/plan.hpp>

namespace seqtrain::data {

/// Fills `batch` with rows of the set, each padded to the width of the longest. The memory of the
/// batch is used again.
inline void collate(const EncodedSet& set, std::span<const std::uint32_t> rows,
                    const PlanOptions& options, Batch& batch) {
  std::size_t longest = 0;
  for (const std::uint32_t row : rows) longest = std::max(longest, set.length(row));
  const std::size_t width = options.padded(longest);
  batch.rows = static_cast<std::int64_t>(rows.size());
  batch.width = static_cast<std::int64_t>(width);
  batch.input_ids.resize(rows.size() * width);
  batch.token_type_ids.resize(rows.size() * width);
  batch.lengths.resize(rows.size());
  batch.labels.resize(rows.size());
  batch.row_ids.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t row = rows[i];
    const std::size_t length = set.length(row);
    std::int32_t* const ids = batch.input_ids.data() + i * width;
    set.copy_row(row, ids);
    std::fill(ids + length, ids + width, set.pad_id());
    std::int32_t* const types = batch.token_type_ids.data() + i * width;
    std::fill(types, types + set.first_segment(row), 0);
    std::fill(types + set.first_segment(row), types + length, 1);
    std::fill(types + length, types + width, 0);
    batch.lengths[i] = static_cast<std::int32_t>(length);
    batch.labels[i] = set.label(row);
    batch.row_ids[i] = row;
  }
}

}  // namespace seqtrain::data
