#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/problem_type.hpp>

namespace seqtrain::serve {

/// What happens to a text that has more ids than the model takes.
enum class Truncation {
  none,   ///< it keeps all its ids, and the caller refuses it
  right,  ///< its end is cut off
  left,   ///< its beginning is cut off
};

/// The facts of a loaded model that `/info` tells.
struct ModelFacts {
  std::string id = {};        ///< the place that it was loaded from
  std::string revision = {};  ///< empty if it is not known
  std::string dtype = {};     ///< the type that it computes in, such as `float32` or `bfloat16`
};

/// An id of a text as people read it.
struct Token {
  std::string text = {};
  bool special = false;
};

/// A model with its tokenizer. `encode` and `scores` may be called by many threads at once, also
/// during `predict`, which one thread calls at a time. `predict` returns a row of logits for each
/// text, and a row is the same bits whatever other texts are in the call.
///
/// Two members are optional: `token(id)` returns a `Token`, which the route `/tokenize` needs;
/// `threshold(label)` returns the score that a label's must be above for a text to have it, in
/// multi-label classification. Without it that is 0.5.
template <class P>
concept Predictor = requires(P& predictor, const P& shared, std::string_view text,
                             std::optional<std::string_view> pair, Truncation truncation,
                             std::span<const typename P::Encoded> texts,
                             std::span<const float> logits) {
  { shared.labels() } -> std::convertible_to<std::span<const std::string>>;
  { shared.problem_type() } -> std::same_as<ProblemType>;
  { shared.max_length() } -> std::convertible_to<std::size_t>;
  { shared.facts() } -> std::convertible_to<ModelFacts>;
  { shared.encode(text, pair, truncation) } -> std::same_as<typename P::Encoded>;
  { predictor.predict(texts) } -> std::convertible_to<std::vector<float>>;
  { shared.scores(logits) } -> std::ranges::input_range;
}
&&std::movable<typename P::Encoded>&& requires(const typename P::Encoded& encoded) {
  { encoded.input_ids.size() } -> std::convertible_to<std::size_t>;
};

/// Whether the predictor can name its ids.
template <class P>
concept NamesTokens = Predictor<P> && requires(const P& predictor) {
  { predictor.token(0) } -> std::convertible_to<Token>;
};

/// Returns the score that a label's must be above for a text to have it.
template <Predictor P>
[[nodiscard]] double threshold(const P& predictor, std::size_t label) {
  if constexpr (requires { predictor.threshold(label); }) {
    return predictor.threshold(label);
  } else {
    return 0.5;
  }
}

}  // namespace seqtrain::serve
