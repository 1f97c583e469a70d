#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/predictor.hpp>
#include <seqtrain/predict/word_shares.hpp>
#include <seqtrain/predict/words.hpp>

namespace seqtrain::predict {

/// Returns the numbers of the logits that explain a prediction: those of the labels that the text
/// has, the greatest score first, and at most five; if it has none, that of the greatest score. In
/// regression they are those of the first five targets.
[[nodiscard]] inline std::vector<std::size_t> explained_outputs(const Prediction& prediction,
                                                                const Task& task) {
  constexpr std::size_t most = 5;
  if (task.problem_type == ProblemType::regression) {
    std::vector<std::size_t> targets(std::clamp<std::size_t>(task.labels.size(), 1, most));
    std::iota(targets.begin(), targets.end(), std::size_t{0});
    return targets;
  }
  return greatest(prediction.scores, std::clamp<std::size_t>(prediction.labels.size(), 1, most));
}

/// Returns the explanation of each logit that `explained_outputs` names for a prediction that the
/// predictor made for a text, cut to `max_length` ids. Throws `InputError` if the model computes a
/// logit that is not finite for a part of the text.
template <Predictor P>
[[nodiscard]] std::vector<Explanation> explain(const P& predictor, std::string_view text,
                                               std::optional<std::string_view> pair,
                                               const Prediction& prediction, std::size_t max_length,
                                               const ExplainOptions& options = {},
                                               std::size_t batch_size = 32) {
  const auto encode = [&](std::string_view part, std::optional<std::string_view> second, bool cut) {
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    return predictor.encode(part, second, cut ? max_length : all);
  };
  const WordShares shares{std::string{text},
                          pair ? std::optional{std::string{*pair}} : std::nullopt, encode, options};
  std::vector<Encoded> encoded;
  for (const PartialText& part : shares.texts()) {
    encoded.push_back(encode(part.text, part.pair, true));
  }
  const auto logits = logits_by_length(predictor, std::move(encoded), batch_size);
  if (!metrics::all_finite({logits.data(), static_cast<std::size_t>(logits.size())})) {
    throw InputError{
        "the model computes a logit that is not a finite number for a part of the text"};
  }
  std::vector<Explanation> explanations;
  for (const std::size_t output : explained_outputs(prediction, predictor.task())) {
    explanations.push_back(shares.explanation(logits, output, prediction.logits.at(output)));
  }
  return explanations;
}

/// Writes `[{"label": "good", "logit": 2.1, "baseline": -0.2, "gap": 1e-7, "passes": 126, "exact":
/// false, "words": [{"word": "The", "start": 0, "end": 3, "share": 0.02}, …]}, …]`. The words of
/// the second text of a pair have `"of_second": true`. Places count characters. A regression has no
/// label, or the name of one of its targets.
inline void write_explanations(json::Writer& out, std::span<const Explanation> explanations,
                               std::string_view text, std::optional<std::string_view> pair,
                               const Task& task) {
  out.begin_array();
  for (const Explanation& each : explanations) {
    out.begin_object();
    if (task.problem_type != ProblemType::regression || has_several_values(task)) {
      out.member("label", label_name(task.labels, each.output));
    }
    out.member("logit", static_cast<float>(each.logit))
        .member("baseline", static_cast<float>(each.baseline))
        .member("gap", static_cast<float>(each.gap))
        .member("passes", each.passes)
        .member("exact", each.exact);
    out.key("words").begin_array();
    for (const auto& [of_second, begin, end, share] : each.words) {
      const std::string_view whole = of_second ? pair.value_or("") : text;
      const auto word = whole.substr(begin, end - begin);
      const std::size_t start = character_count(whole.substr(0, begin));
      out.begin_object().member("word", word).member("start", start);
      out.member("end", start + character_count(word));
      out.member("share", static_cast<float>(share));
      if (of_second) out.member("of_second", true);
      out.end_object();
    }
    out.end_array().end_object();
  }
  out.end_array();
}

}  // namespace seqtrain::predict
