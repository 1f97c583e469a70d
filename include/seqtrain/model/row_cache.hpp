#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>

#include <seqtrain/data/batch.hpp>

namespace seqtrain::model {

/// Keeps vectors that were computed for rows of sets, for later batches with these rows. A row
/// takes `size` floats and about 60 bytes.
class RowCache {
 public:
  /// Copies the vectors of a batch's rows to `out` [rows, size]. Returns false if one is missing or
  /// the batch does not tell its set; `out` then has no meaning.
  [[nodiscard]] bool find(const data::Batch& batch, std::span<float> out) const {
    const auto set = sets_.find(batch.set);
    if (set == sets_.end()) return false;
    const std::size_t size = out.size() / batch.row_ids.size();
    for (std::size_t i = 0; i < batch.row_ids.size(); ++i) {
      const auto row = set->second.find(batch.row_ids[i]);
      if (row == set->second.end()) return false;
      std::copy_n(row->second.get(), size, out.data() + i * size);
    }
    return true;
  }

  /// Keeps the vectors [rows, size] of a batch's rows.
  void keep(const data::Batch& batch, std::span<const float> vectors) {
    if (batch.set == 0) return;
    auto& rows = sets_[batch.set];
    const std::size_t size = vectors.size() / batch.row_ids.size();
    for (std::size_t i = 0; i < batch.row_ids.size(); ++i) {
      auto& row = rows[batch.row_ids[i]];
      if (!row) row = std::make_unique<float[]>(size);
      std::copy_n(vectors.data() + i * size, size, row.get());
    }
  }

  void clear() { sets_.clear(); }

 private:
  using Rows = std::unordered_map<std::int64_t, std::unique_ptr<float[]>>;

  std::map<std::uint64_t, Rows> sets_;
};

}  // namespace seqtrain::model
