#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace seqtrain::data {

/// A padded batch in host memory. A loader makes it and a model reads it. Matrices are row-major
/// [rows, width]. A loader reuses the buffers, so a batch is valid until the next one is requested.
struct Batch {
  /// The epoch. With `index` and the seed it determines dropout, so no generator state is saved.
  std::int64_t epoch = 0;
  std::int64_t index = 0;  ///< number of the batch in its epoch, from 0
  std::int64_t rows = 0;
  std::int64_t width = 0;  ///< length of the longest row, rounded up by `pad_to_multiple_of`
  std::vector<std::int32_t> input_ids;  ///< [rows, width], with the pad id after each row's end;
                                        ///< empty if another process computes the batch
  std::vector<std::int32_t> token_type_ids;  ///< [rows, width]; 0 if the family has no token types,
                                             ///< but see `text::Tokenizer` for windows
  std::vector<std::int32_t> lengths;         ///< [rows]; attention_mask[r][c] is c < lengths[r]
  std::vector<std::int64_t> labels;          ///< [rows]; -1 for a row without a label
  std::vector<float> targets;  ///< [rows, n], the targets of rows that have numbers instead of a
                               ///< label; the label is then 0, or the likeliest of soft labels
  std::vector<std::int64_t> row_ids;  ///< [rows], the indexes of the rows in their encoded set
  std::vector<std::int32_t> adapters = {};  ///< [rows], the number of each row's adapter from 1 on,
                                            ///< or 0 for none; empty if no row has one
  std::uint64_t set = 0;  ///< number of that set, unique in the process; 0 if unknown

  /// Returns the number of tokens that are not padding.
  [[nodiscard]] std::int64_t tokens() const {
    return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  }
};

/// A batch for a language model: one stretch of each of several streams of text. Row r of batch i +
/// 1 continues row r of batch i, so a model may keep its state. Matrices are row-major [rows,
/// width]. A batch is valid until the next one is requested.
struct LanguageBatch {
  std::int64_t epoch = 0;  ///< number of the epoch, from 0
  std::int64_t index = 0;  ///< number of the batch in its epoch, from 0
  std::int64_t rows = 0;
  std::int64_t width = 0;                    ///< words per stream
  std::vector<std::int32_t> input_ids = {};  ///< [rows, width]
  std::vector<std::int64_t> labels = {};     ///< [rows, width], the next word after each input

  [[nodiscard]] std::int64_t tokens() const { return rows * width; }
};

}  // namespace seqtrain::data
