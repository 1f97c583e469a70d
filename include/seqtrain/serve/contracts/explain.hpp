#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/metrics/logits.hpp>
#include <seqtrain/predict/explain.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/word_shares.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/encoded_texts.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/servable.hpp>

/// The server's own contract for the words that decided: `/explain` is answered as the program
/// `predict` answers with `--explain`. The errors are `tei_error`.
namespace seqtrain::serve::explain {

namespace detail {

/// A text that is explained.
struct Explained {
  PredictInput input = {};
  predict::WordShares shares;
};

/// Reads the member `passes`.
inline predict::ExplainOptions options_in(const json::Value& root) {
  using predict::ExplainOptions;
  ExplainOptions options;
  const auto passes = root.find("passes");
  if (!passes) return options;
  const auto number = passes->integer();
  if (number < static_cast<std::int64_t>(ExplainOptions::fewest) ||
      number > static_cast<std::int64_t>(ExplainOptions::most)) {
    throw passes->error("must be " + std::to_string(ExplainOptions::fewest) + " to " +
                        std::to_string(ExplainOptions::most));
  }
  options.passes = static_cast<std::size_t>(number);
  return options;
}

/// Returns the logits of the predictions [texts, outputs].
inline metrics::Logits logits_of(std::span<const predict::Prediction> predictions) {
  metrics::Logits logits{predictions.size(), predictions.front().logits.size()};
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    std::ranges::copy(predictions[i].logits, logits.row(static_cast<Eigen::Index>(i)).data());
  }
  return logits;
}

/// Returns the response, given the predictions for the texts with some of the words. The first of
/// them has all words.
inline HttpResponse write(const Explained& of, const predict::Task& task,
                          std::span<const predict::Prediction> predictions) {
  const predict::Prediction& whole = predictions.front();
  const auto logits = logits_of(predictions);
  std::vector<predict::Explanation> explanations;
  for (const std::size_t output : predict::explained_outputs(whole, task)) {
    explanations.push_back(of.shares.explanation(logits, output, whole.logits.at(output)));
  }
  json::Writer out;
  out.begin_object();
  predict::write_members(out, whole, task, {});
  out.key("explanations");
  predict::write_explanations(out, explanations, of.input.text, of.input.pair, task);
  return {.body = out.end_object().text()};
}

}  // namespace detail

/// Reads a request: `{"inputs": "text", "passes": 200}`, or a pair of texts. A longer text is cut.
[[nodiscard]] inline PredictRequest read(const Call& call) {
  return read_json(call.http.body, [&](const json::Value& root) {
    PredictInput input;
    serve::detail::read_sequence(root.at("inputs"), input);
    serve::detail::check_not_empty(input.text, "inputs");
    const auto options = detail::options_in(root);
    const auto model = serve::detail::model_in(root);
    check_classifies(call.server.task_of(model, false));
    serve::detail::check_count(options.passes, call.limits().texts);
    serve::detail::check_copies("inputs", input.text.size() + input.pair.value_or("").size(),
                                options.passes, "passes");
    const auto encode = [&](std::string_view text, std::optional<std::string_view> pair, bool cut) {
      return call.server.encode(model, text, pair, cut ? Truncation::right : Truncation::none);
    };
    auto shares = tokenized([&] {
      return predict::WordShares{input.text, input.pair, encode, options};
    });
    PredictRequest request{.single = true, .model = model};
    for (const predict::PartialText& part : shares.texts()) {
      request.texts.push_back({.text = part.text,
                               .pair = part.pair,
                               .truncation = Truncation::right,
                               .raw_scores = true});
    }
    const auto of = std::make_shared<const detail::Explained>(
        detail::Explained{std::move(input), std::move(shares)});
    request.write = [of](const PredictRequest&, const predict::Task& task, const auto predictions) {
      return detail::write(*of, task, predictions);
    };
    return request;
  });
}

/// Returns the contract.
[[nodiscard]] inline Contract contract() {
  return {.routes = {{.method = "POST", .path = "/explain", .read = read}}};
}

}  // namespace seqtrain::serve::explain
