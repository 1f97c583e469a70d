#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/serve/predictor.hpp>
#include <seqtrain/text/post_processing/truncation.hpp>

namespace seqtrain::serve {

/// A classifier such as `model::Predictor`, made a `serve::Predictor`. Its own `encode` takes the
/// most ids that a text may have, and cuts off the end; here the beginning can be cut off as well.
template <class P>
class Adapted {
 public:
  using Encoded = typename P::Encoded;

  Adapted(P predictor, ModelFacts facts)
      : predictor_{std::move(predictor)}, facts_{std::move(facts)} {
    const std::size_t special = predictor_.special_tokens(false);
    if (special == 0) return;
    // The text with room for no id of its own, and for one: they differ where the text begins.
    const auto none = predictor_.encode("a", {}, special).input_ids;
    const auto one = predictor_.encode("a", {}, special + 1).input_ids;
    before_ = static_cast<std::size_t>(std::ranges::mismatch(none, one).in1 - none.begin());
  }

  [[nodiscard]] const std::vector<std::string>& labels() const { return predictor_.task().labels; }
  [[nodiscard]] ProblemType problem_type() const { return predictor_.task().problem_type; }
  [[nodiscard]] std::size_t max_length() const { return predictor_.max_length(); }
  [[nodiscard]] const ModelFacts& facts() const { return facts_; }
  [[nodiscard]] double threshold(std::size_t label) const {
    const auto& thresholds = predictor_.task().thresholds;
    return thresholds.empty() ? 0.5 : thresholds[label];
  }

  [[nodiscard]] Encoded encode(std::string_view text, std::optional<std::string_view> pair,
                               Truncation truncation) const {
    if (truncation == Truncation::right) return predictor_.encode(text, pair, max_length());
    auto encoded = whole(text, pair);
    const bool fits = encoded.input_ids.size() <= max_length();
    if (fits || truncation == Truncation::none) return encoded;
    return pair ? without_beginnings(std::move(encoded), text, *pair)
                : without_beginning(std::move(encoded));
  }

  std::vector<float> predict(std::span<const Encoded> texts) {
    const auto logits = predictor_.predict(texts);  // row-major
    return {logits.data(), logits.data() + logits.size()};
  }

  [[nodiscard]] std::vector<double> scores(std::span<const float> logits) const {
    return predictor_.scores(logits);
  }

 private:
  [[nodiscard]] Encoded whole(std::string_view text, std::optional<std::string_view> pair) const {
    return predictor_.encode(text, pair, std::numeric_limits<std::size_t>::max() / 2);
  }

  static void erase(Encoded& encoded, std::size_t begin, std::size_t count) {
    auto& ids = encoded.input_ids;
    if (encoded.first_segment > begin) encoded.first_segment -= count;
    const auto from = ids.begin() + static_cast<std::ptrdiff_t>(begin);
    ids.erase(from, from + static_cast<std::ptrdiff_t>(count));
    encoded.truncated = true;
  }

  [[nodiscard]] Encoded without_beginning(Encoded encoded) const {
    erase(encoded, before_, encoded.input_ids.size() - max_length());
    return encoded;
  }

  /// Both texts keep as many ids as if their ends were cut off.
  [[nodiscard]] Encoded without_beginnings(Encoded encoded, std::string_view text,
                                           std::string_view pair) const {
    const std::size_t single = predictor_.special_tokens(false);
    const std::size_t both = predictor_.special_tokens(true);
    const text::PairLengths lengths{whole(text, {}).input_ids.size() - single,
                                    whole(pair, {}).input_ids.size() - single};
    const auto kept = text::longest_first(lengths, max_length() - both);
    const std::size_t second = before_ + lengths.first + (both - single);
    erase(encoded, second, lengths.second - kept.second);
    erase(encoded, before_, lengths.first - kept.first);
    return encoded;
  }

  P predictor_;
  ModelFacts facts_;
  std::size_t before_ = 0;  // special tokens before a text
};

}  // namespace seqtrain::serve
