#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/contracts/tei.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/request.hpp>

/// The contract of Cohere's and Jina's rerankers: `{"query", "documents"}` is answered by
/// `{"results": [{"index", "relevance_score"}, …]}`. The errors are those of
/// text-embeddings-inference.
namespace seqtrain::serve::cohere {

/// The options of an answer.
struct RankOptions {
  std::size_t top_n = 0;  ///< at most this many results; 0 for all
  bool returns_documents = false;
};

/// Returns the answer, the highest score first.
inline HttpResponse write_results(const RankOptions& options, const PredictRequest& request,
                                  const predict::Task& task,
                                  std::span<const predict::Prediction> predictions) {
  std::vector<double> scores;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    scores.push_back(tei::detail::scores_of(request.texts[i], predictions[i], task)[0]);
  }
  const std::size_t most = options.top_n == 0 ? scores.size() : options.top_n;
  json::Writer out;
  out.begin_object().key("results").begin_array();
  for (const std::size_t i : predict::greatest(scores, most)) {
    out.begin_object().member("index", i).member("relevance_score", scores[i]);
    if (options.returns_documents) {
      out.key("document").begin_object().member("text", *request.texts[i].pair).end_object();
    }
    out.end_object();
  }
  return {.body = out.end_array().end_object().text()};
}

/// Reads a request. A document is a text or `{"text": "…"}`. Longer texts are cut.
[[nodiscard]] inline PredictRequest read_rerank(const json::Value& root, const TextLimits& limits) {
  const PredictInput like{.text = std::string{root.at("query").string()},
                          .truncation = serve::detail::truncation(root, Truncation::right)};
  serve::detail::check_not_empty(like.text, "query");
  RankOptions options{.returns_documents = serve::detail::flag(root, "return_documents", false)};
  if (const auto top = root.find("top_n")) {
    if (top->integer() < 1) throw top->error("must be at least 1");
    options.top_n = static_cast<std::size_t>(top->integer());
  }
  PredictRequest request{
      .model = serve::detail::model_in(root),
      .write = [options](const auto&... answer) { return write_results(options, answer...); }};
  const auto documents = root.at("documents").items();
  serve::detail::check_not_empty(documents.empty() ? "" : "documents", "documents");
  serve::detail::check_count(documents.size(), limits.texts);
  serve::detail::check_copies("query", like.text.size(), documents.size(), "texts");
  for (const auto& document : documents) {
    request.texts.emplace_back(like).pair =
        document.is_object() ? document.at("text").string() : document.string();
  }
  return request;
}

/// Returns the contract. Cohere's clients send their requests to `/v1/rerank`, Jina's to `/rerank`.
[[nodiscard]] inline Contract contract() {
  return {.routes = {{.method = "POST", .path = "/v1/rerank", .read = tei::rank}},
          .forms = {.rank = {{.member = "documents", .read = read_rerank}}}};
}

}  // namespace seqtrain::serve::cohere
