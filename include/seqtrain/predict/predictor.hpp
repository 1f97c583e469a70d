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

/// A classifier with its tokenizer, for use as it is. Threads may share it. `encode` cuts a text
/// off at `max_length` ids and throws `InputError` for a text that cannot be encoded. `predict`
/// returns a row of logits for each text.
template <class P>
concept Predictor = requires(const P& predictor, std::string_view text,
                             std::optional<std::string_view> pair, std::size_t max_length,
                             std::span<const Encoded> texts) {
  { predictor.task() } -> std::convertible_to<const Task&>;
  { predictor.encode(text, pair, max_length) } -> std::same_as<Encoded>;
  { predictor.predict(texts) } -> std::convertible_to<metrics::Logits>;
};

}  // namespace seqtrain::predict
