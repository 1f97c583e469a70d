#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/predict/encoded.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/text/tokens.hpp>

namespace seqtrain::serve {

/// What happens to a text that has more ids than the model takes.
enum class Truncation {
  none,   ///< it keeps all its ids, and the caller refuses it
  right,  ///< its end is cut off
  left,   ///< its beginning is cut off
};

/// A `predict::Predictor` that can be served: `max_length` returns how many ids a text may have,
/// and `encode` cuts off either side. A row of logits is the same bits whatever other texts are in
/// the call.
///
/// The member `tokens(text, special)` is optional; the route `/tokenize` needs it. It returns
/// `std::optional<std::vector<text::Token>>`, which is empty if the tokenizer cannot name its ids.
template <class P>
concept Predictor = predict::Predictor<P> && std::movable<P> &&
    requires(const P& predictor, std::string_view text, std::optional<std::string_view> pair,
             std::size_t max_length, predict::Cut cut) {
  { predictor.max_length() } -> std::convertible_to<std::size_t>;
  { predictor.encode(text, pair, max_length, cut) } -> std::same_as<predict::Encoded>;
};

/// The facts of a loaded model that `/info` tells.
struct ModelFacts {
  std::string id = {};               ///< the place that it was loaded from
  std::string revision = {};         ///< empty if it is not known
  std::string dtype = {};            ///< the type that it computes in: `float32`, `bfloat16`
  std::string compute_type = "cpu";  ///< what it computes on: `cpu` or `gpu`
};

/// A classifier that is served.
template <Predictor P>
struct Served {
  P predictor;
  ModelFacts facts = {};
};

/// Returns the ids of a text or a pair.
template <Predictor P>
[[nodiscard]] predict::Encoded encode(const P& predictor, std::string_view text,
                                      std::optional<std::string_view> pair, Truncation truncation) {
  if (truncation == Truncation::none) {
    return predictor.encode(text, pair, std::numeric_limits<std::size_t>::max(), predict::Cut::end);
  }
  return predictor.encode(
      text, pair, predictor.max_length(),
      truncation == Truncation::left ? predict::Cut::beginning : predict::Cut::end);
}

/// Returns the tokens of a text, or nothing if the tokenizer cannot name its ids.
template <Predictor P>
[[nodiscard]] std::optional<std::vector<text::Token>> tokens(const P& predictor,
                                                             std::string_view text, bool special) {
  if constexpr (requires { predictor.tokens(text, special); }) {
    return predictor.tokens(text, special);
  } else {
    return {};
  }
}

}  // namespace seqtrain::serve
