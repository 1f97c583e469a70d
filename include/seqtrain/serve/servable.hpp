#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/tokens.hpp>

namespace seqtrain::serve {

/// The treatment of a text that has more ids than the model takes.
enum class Truncation {
  none,        ///< keeps all ids; the caller refuses the text
  right,       ///< cuts as the model's files say, which is at the end unless they say otherwise
  left,        ///< cuts off the beginning
  only_first,  ///< cuts the first text of a pair at its end, and never the second one
};

/// A `predict::Predictor` that can be served. `max_length` returns the most ids that a text may
/// have. `encode` can be told which ids a text keeps. The bits of a row of logits must not depend
/// on the other texts in the call.
///
/// The member `tokens(text, special)` is optional; the route `/tokenize` needs it. It returns
/// `std::optional<std::vector<text::Token>>`, which is empty if the tokenizer cannot name its ids.
/// `predict::ReadsWindows` is optional: the server then puts the windows of a long text into
/// batches like texts, so that it computes other texts between them. The member `usual_length()` is
/// optional: texts are cut at so many ids instead of `max_length()`. So is `predict(texts,
/// deciding)`, which also tells the windows that decided: see `predict::logits_of`.
template <class P>
concept Servable = predict::Predictor<P> && std::movable<P> &&
    requires(const P& predictor, std::string_view text, std::optional<std::string_view> pair,
             std::size_t max_length, std::optional<text::LongTexts> way) {
  { predictor.max_length() } -> std::convertible_to<std::size_t>;
  { predictor.encode(text, pair, max_length, way) } -> std::same_as<predict::Encoded>;
};

/// The facts about a loaded model that `/info` reports.
struct ModelFacts {
  std::string id = {};               ///< the path or name that it was loaded from
  std::string revision = {};         ///< the commit or version; empty if it is not known
  std::string dtype = {};            ///< the type of its computations, such as `float32`
  std::string compute_type = "cpu";  ///< the device: `cpu` or `gpu`
  std::string name = {};  ///< an adapter's name in paths; the base has `ServiceOptions::model_name`
};

/// A classifier that is served, with its facts.
template <Servable P>
struct Served {
  P predictor;
  ModelFacts facts = {};
  bool has_head = true;  ///< false if only its adapters answer
  /// Adapters that share the model. One call of `predict`, of any of them, takes texts that several
  /// of them have encoded. A row of logits may then have more columns than the task has labels.
  std::vector<Served> adapters = {};
};

/// Returns the ids of a text or a pair. If it may be cut it has at most `limit` ids.
template <Servable P>
[[nodiscard]] predict::Encoded encode(const P& predictor, std::string_view text,
                                      std::optional<std::string_view> pair, Truncation truncation,
                                      std::size_t limit = std::numeric_limits<std::size_t>::max()) {
  if (truncation == Truncation::none) {
    return predictor.encode(text, pair, std::numeric_limits<std::size_t>::max());
  }
  std::size_t most = predictor.max_length();
  if constexpr (requires { predictor.usual_length(); }) most = predictor.usual_length();
  most = std::min(most, limit);
  if (truncation == Truncation::right) return predictor.encode(text, pair, most);
  const bool only_first = truncation == Truncation::only_first;
  return predictor.encode(text, pair, most,
                          only_first ? text::LongTexts::only_first : text::LongTexts::tail);
}

/// Returns the tokens of a text, or nothing if the tokenizer cannot name its ids.
template <Servable P>
[[nodiscard]] std::optional<std::vector<text::Token>> tokens(const P& predictor,
                                                             std::string_view text, bool special) {
  if constexpr (requires { predictor.tokens(text, special); }) {
    return predictor.tokens(text, special);
  }
  return {};
}

}  // namespace seqtrain::serve
