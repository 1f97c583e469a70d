#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/data/batch.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::predict {

/// The ids of a text or a pair.
struct Encoded {
  std::vector<std::int32_t> input_ids = {};
  std::size_t first_segment = 0;  ///< number of ids before the first id of token type 1; see
                                  ///< `text::Tokenizer` for models that read windows
  std::int32_t adapter = 0;       ///< number of the adapter that is to answer; 0 if there is none
  /// The text with each further hypothesis, if it is one with the first: see `ZeroShot`.
  std::vector<Encoded> others = {};
};

/// Returns the texts as a batch in the given order. Each row is padded to the longest.
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
  if (std::ranges::any_of(texts, [](const Encoded& text) { return text.adapter != 0; })) {
    for (const Encoded& text : texts) batch.adapters.push_back(text.adapter);
  }
  std::iota(batch.row_ids.begin(), batch.row_ids.end(), std::int64_t{0});
  for (std::size_t row = 0; row < texts.size(); ++row) {
    const auto& [ids, first_segment, adapter, others] = texts[row];
    std::ranges::copy(ids, batch.input_ids.data() + row * width);
    std::fill_n(batch.token_type_ids.data() + row * width + first_segment,
                ids.size() - first_segment, 1);
    batch.lengths.push_back(static_cast<std::int32_t>(ids.size()));
  }
  return batch;
}

/// A trained classifier with its tokenizer. Threads may share it. `encode` truncates a text to
/// `max_length` ids and throws `InputError` for a text that cannot be encoded. `predict` returns a
/// row of logits for each text.
template <class P>
concept Predictor = requires(const P& predictor, std::string_view text,
                             std::optional<std::string_view> pair, std::size_t max_length,
                             std::span<const Encoded> texts) {
  { predictor.task() } -> std::convertible_to<const Task&>;
  { predictor.encode(text, pair, max_length) } -> std::same_as<Encoded>;
  { predictor.predict(texts) } -> std::convertible_to<metrics::Logits>;
};

/// The logits of a text from those of the windows in which it was read.
struct Pooled {
  std::vector<float> logits = {};
  std::optional<std::size_t> deciding = {};  ///< the window that decided, unless it is a regression
};

/// A predictor that may read a long text in windows. `windows` returns how, or nothing. `predict`
/// takes windows of a text in place of the text, and `pooled` then gives the logits that it would
/// have given the text [windows, labels].
template <class P>
concept ReadsWindows = Predictor<P> && requires(const P& predictor, const metrics::Logits& logits) {
  { predictor.windows() } -> std::same_as<const std::optional<text::Windows>&>;
  { predictor.pooled(logits) } -> std::same_as<Pooled>;
};

/// Returns the logits of each text. Sets `deciding` to the window of each text that decided, if the
/// predictor has a member `predict(texts, deciding)` that does so.
template <Predictor P>
[[nodiscard]] metrics::Logits logits_of(const P& predictor, std::span<const Encoded> texts,
                                        std::vector<text::DecidingWindow>* deciding) {
  if constexpr (requires { predictor.predict(texts, deciding); }) {
    return predictor.predict(texts, deciding);
  } else {
    return predictor.predict(texts);
  }
}

/// Returns the logits of texts [texts, outputs], which are predicted in batches of similar lengths.
template <Predictor P>
[[nodiscard]] metrics::Logits logits_by_length(const P& predictor, std::vector<Encoded> texts,
                                               std::size_t batch_size) {
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return texts[i].input_ids.size(); });
  metrics::Logits logits;
  for (std::size_t begin = 0; begin < order.size(); begin += batch_size) {
    const auto numbers =
        std::span{order}.subspan(begin, std::min(batch_size, order.size() - begin));
    std::vector<Encoded> batch;
    for (const std::size_t i : numbers) batch.push_back(std::move(texts[i]));
    const metrics::Logits rows = predictor.predict(batch);
    if (begin == 0) logits.resize(static_cast<Eigen::Index>(texts.size()), rows.cols());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      logits.row(static_cast<Eigen::Index>(numbers[i])) = rows.row(static_cast<Eigen::Index>(i));
    }
  }
  return logits;
}

}  // namespace seqtrain::predict
