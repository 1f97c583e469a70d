#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/metric.hpp>

namespace seqtrain::tests {

/// Returns a batch with one row of these ids and `padding` times `pad_id`.
inline data::Batch one_row(std::vector<std::int32_t> ids, std::int64_t padding = 0,
                           std::int32_t pad_id = 0) {
  data::Batch batch;
  batch.rows = 1;
  batch.lengths = {static_cast<std::int32_t>(ids.size())};
  ids.resize(ids.size() + static_cast<std::size_t>(padding), pad_id);
  batch.width = static_cast<std::int64_t>(ids.size());
  batch.token_type_ids.resize(ids.size());
  batch.input_ids = std::move(ids);
  batch.labels = {0};
  batch.row_ids = {0};
  return batch;
}

/// Returns the largest difference of two logits.
inline double gap(const metrics::Logits& a, const metrics::Logits& b) {
  return static_cast<double>((a - b).cwiseAbs().maxCoeff());
}

}  // namespace seqtrain::tests
