#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/plan.hpp>

namespace seqtrain::data {
namespace detail {

/// Prefetches `count` values that will be read soon.
template <class T>
void prefetch(const T* values, std::size_t count) {
  constexpr std::size_t line = 64 / sizeof(T);
  for (std::size_t i = 0; i < count; i += line) __builtin_prefetch(values + i);
}

/// Fills the shape of a batch and the members that have one value per row.
inline void describe_rows(const EncodedSet& set, std::span<const std::uint32_t> rows,
                          const PlanOptions& options, Batch& batch) {
  batch.lengths.resize(rows.size());
  batch.labels.resize(rows.size());
  batch.row_ids.resize(rows.size());
  batch.targets.resize(rows.size() * set.targets_a_row());
  float* targets = batch.targets.data();
  std::size_t longest = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t length = set.length(rows[i]);
    longest = std::max(longest, length);
    batch.lengths[i] = static_cast<std::int32_t>(length);
    batch.labels[i] = set.label(rows[i]);
    batch.row_ids[i] = rows[i];
    targets = std::ranges::copy(set.targets(rows[i]), targets).out;
  }
  batch.rows = static_cast<std::int64_t>(rows.size());
  batch.width = static_cast<std::int64_t>(options.padded(longest));
}

}  // namespace detail

/// Fills `batch` like `collate` but without the ids, for a batch that another process computes.
inline void describe_batch(const EncodedSet& set, std::span<const std::uint32_t> rows,
                           const PlanOptions& options, Batch& batch) {
  detail::describe_rows(set, rows, options, batch);
  batch.input_ids.clear();
  batch.token_type_ids.clear();
}

/// Fills `batch` with rows of the set, each padded to the length of the longest. Reuses the batch's
/// memory.
inline void collate(const EncodedSet& set, std::span<const std::uint32_t> rows,
                    const PlanOptions& options, Batch& batch) {
  set.visit_ids([&](const auto* all_ids) {
    detail::describe_rows(set, rows, options, batch);
    const auto size = static_cast<std::size_t>(batch.rows * batch.width);
    batch.input_ids.resize(size);
    batch.token_type_ids.resize(size);
    for (const std::uint32_t row : rows)
      detail::prefetch(all_ids + set.begin_of(row), set.length(row));
    std::int32_t* ids = batch.input_ids.data();
    std::int32_t* types = batch.token_type_ids.data();
    std::ranges::fill(batch.token_type_ids, 0);
    for (const std::uint32_t row : rows) {
      const std::size_t length = set.length(row);
      std::copy_n(all_ids + set.begin_of(row), length, ids);
      std::fill(ids + length, ids + batch.width, set.pad_id());
      std::fill(types + set.first_segment(row), types + length, 1);
      ids += batch.width;
      types += batch.width;
    }
  });
}

}  // namespace seqtrain::data
