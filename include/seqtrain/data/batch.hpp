#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace seqtrain::data {

/// A padded batch in host memory, which a loader makes and a model takes. Matrices are row-major
/// [rows, width]. A loader uses the buffers again, so a batch is valid until the next one is
/// requested.
struct Batch {
  std::int64_t epoch = 0;  ///< epoch and index name the batch's place in training: dropout follows
  std::int64_t index = 0;  ///< from them and the seed, so no generator state has to be kept
  std::int64_t rows = 0;
  std::int64_t width = 0;  ///< length of the longest row, rounded up if the loader's options say so
  std::vector<std::int32_t> input_ids;       ///< [rows, width], the pad id after each row's end
  std::vector<std::int32_t> token_type_ids;  ///< [rows, width], 0 if the family has no types
  std::vector<std::int32_t> lengths;         ///< [rows]; attention_mask[r][c] is c < lengths[r]
  std::vector<std::int64_t> labels;          ///< [rows], -1 for a row without a label
  std::vector<float> targets;  ///< [rows, n], the targets of rows that have numbers in place of a
                               ///< label, which is 0 then
  std::vector<std::int64_t> row_ids;  ///< [rows], the rows' places in their encoded set
  std::uint64_t set = 0;              ///< number of that set, unique in the process; 0 if unknown

  /// Tells whether the batch has no ids because another process computes it. `input_ids` and
  /// `token_type_ids` are then empty, and all other members are as that process has them.
  [[nodiscard]] bool described_only() const { return input_ids.empty() && rows > 0; }

  /// Returns the number of tokens that are not padding.
  [[nodiscard]] std::int64_t tokens() const {
    return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  }
};

}  // namespace seqtrain::data
