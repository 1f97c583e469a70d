#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::data {

/// The windows of a batch of texts, in batches of limited size.
struct WindowBatches {
  std::vector<Batch> parts;            ///< their rows are windows, in the order of the texts
  std::vector<std::int64_t> counts;    ///< [texts], the number of windows of each text
};

namespace detail {

/// The window of a row of a batch: the row's special tokens and its ids from `begin` to `end`,
/// which count from the first that is not special.
struct WindowOfRow {
  std::size_t row;
  std::size_t begin;
  std::size_t end;
};

/// Returns the windows as rows of a batch whose texts are those of `texts`.
inline Batch batch_of(const Batch& texts, std::span<const WindowOfRow> rows,
                      const text::Windows& windows) {
  const std::size_t special = windows.before + windows.after;
  std::size_t width = 0;
  for (const auto& [row, begin, end] : rows) width = std::max(width, end - begin + special);
  Batch batch{.epoch = texts.epoch, .index = texts.index, .rows = std::ssize(rows)};
  batch.width = static_cast<std::int64_t>(width);
  batch.input_ids.resize(rows.size() * width, windows.pad_id);
  batch.token_type_ids.resize(rows.size() * width, 0);
  batch.labels.resize(rows.size(), -1);
  batch.set = texts.row_ids.empty() ? 0 : texts.set;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [row, begin, end] = rows[i];
    const auto length = static_cast<std::size_t>(texts.lengths[row]);
    const auto copy = [&](const std::vector<std::int32_t>& from, std::vector<std::int32_t>& to) {
      const auto* const text = from.data() + row * static_cast<std::size_t>(texts.width);
      auto* out = std::copy_n(text, windows.before, to.data() + i * width);
      out = std::copy_n(text + windows.before + begin, end - begin, out);
      std::copy_n(text + length - windows.after, windows.after, out);
    };
    copy(texts.input_ids, batch.input_ids);
    copy(texts.token_type_ids, batch.token_type_ids);
    batch.lengths.push_back(static_cast<std::int32_t>(end - begin + special));
    if (texts.row_ids.empty()) continue;
    batch.row_ids.push_back(texts.row_ids[row] << 24 | static_cast<std::int64_t>(begin));
  }
  return batch;
}

}  // namespace detail

/// Cuts the texts of a batch, whose rows have special tokens around them, into windows. A part has
/// at most `most_tokens` ids with padding, and at least one window.
[[nodiscard]] inline WindowBatches cut_into_windows(const Batch& texts,
                                                    const text::Windows& windows,
                                                    std::size_t most_tokens) {
  WindowBatches result;
  std::vector<detail::WindowOfRow> all;
  for (std::size_t row = 0; row < texts.lengths.size(); ++row) {
    const std::size_t before = all.size();
    const auto ids = static_cast<std::size_t>(texts.lengths[row]) - windows.before - windows.after;
    for (std::size_t begin = 0;; begin += windows.room() - windows.stride) {
      all.push_back({row, begin, std::min(begin + windows.room(), ids)});
      if (all.back().end == ids) break;
    }
    result.counts.push_back(static_cast<std::int64_t>(all.size() - before));
  }
  const auto width = std::min(windows.length, static_cast<std::size_t>(texts.width));
  const std::size_t most = std::max<std::size_t>(1, most_tokens / width);
  for (std::span<const detail::WindowOfRow> rest{all}; !rest.empty();) {
    const std::size_t count = std::min(most, rest.size());
    result.parts.push_back(detail::batch_of(texts, rest.first(count), windows));
    rest = rest.subspan(count);
  }
  return result;
}

}  // namespace seqtrain::data
