#pragma once

#include <cstdint>
#include <vector>

namespace seqtrain::data {

/// The same stretch of several streams of text: what a language model is shown. Row r of batch
/// i + 1 goes on where row r of batch i ended, so a model may carry its state over. Matrices are
/// row-major [rows, width]. Valid until the next batch is asked for.
struct LanguageBatch {
  std::int64_t epoch = 0;  ///< epoch and index name the batch's place in training
  std::int64_t index = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;                    ///< words of each stream
  std::vector<std::int32_t> input_ids = {};  ///< [rows, width]
  std::vector<std::int64_t> labels = {};     ///< [rows, width], the word that follows each

  [[nodiscard]] std::int64_t tokens() const { return rows * width; }
};

}  // namespace seqtrain::data
