#pragma once

#include <cstdint>
#include <vector>

namespace seqtrain::data {

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
