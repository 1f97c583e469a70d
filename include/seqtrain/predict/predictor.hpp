#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/encoded.hpp>
#include <seqtrain/predict/prediction.hpp>

namespace seqtrain::predict {

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

}  // namespace seqtrain::predict
