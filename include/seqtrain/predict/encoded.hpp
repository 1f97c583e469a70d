#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <seqtrain/data/batch.hpp>

namespace seqtrain::predict {

/// What goes where a text has more ids than it may have. Both texts of a pair keep as many ids
/// whichever it is.
enum class Cut { end, beginning };

/// A text, or a pair, as ids.
struct Encoded {
  std::vector<std::int32_t> input_ids = {};
  std::size_t first_segment = 0;  ///< ids before the first of token type 1
  bool truncated = false;         ///< the text had more ids than it may have
};

/// Returns the texts as a batch in the order given, each padded to the longest.
[[nodiscard]] inline data::Batch to_batch(std::span<const Encoded> texts, std::int32_t pad_id) {
  std::size_t width = 0;
  for (const Encoded& text : texts) width = std::max(width, text.input_ids.size());
  data::Batch batch;
  batch.rows = static_cast<std::int64_t>(texts.size());
  batch.width = static_cast<std::int64_t>(width);
  batch.input_ids.resize(texts.size() * width, pad_id);
  batch.token_type_ids.resize(texts.size() * width, 0);
  batch.labels.resize(texts.size(), -1);
  batch.row_ids.resize(texts.size());
  std::iota(batch.row_ids.begin(), batch.row_ids.end(), std::int64_t{0});
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const auto& [ids, first_segment, truncated] = texts[row];
    std::ranges::copy(ids, batch.input_ids.data() + row * width);
    std::fill_n(batch.token_type_ids.data() + row * width + first_segment,
                ids.size() - first_segment, 1);
    batch.lengths.push_back(static_cast<std::int32_t>(ids.size()));
  }
  return batch;
}

}  // namespace seqtrain::predict
