#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/version.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/contracts/zero_shot.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/read_request.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/text/tokens.hpp>

/// The contract of text-embeddings-inference: the requests and answers of `/predict`, `/rerank`,
/// `/tokenize` and `/info`. Its errors are `tei_error` of serve/http_error.hpp, which is the
/// default of all contracts.
namespace seqtrain::serve::tei {
namespace detail {

/// Returns the scores of an answer: the logits if the request wants them.
inline std::vector<double> scores_of(const PredictInput& text,
                                     const predict::Prediction& prediction,
                                     const predict::Task& task) {
  const auto& logits = prediction.logits;
  if (text.raw_scores) return {logits.begin(), logits.end()};
  if (logits.size() == 1) return {predict::relevance(logits[0], task)};
  return prediction.scores;
}

/// Returns the answer of `/rerank`: `[{"index": 1, "score": 0.9}, …]`, the highest score first.
inline HttpResponse write_ranks(bool returns_texts, const PredictRequest& request,
                                const predict::Task& task,
                                std::span<const predict::Prediction> predictions) {
  std::vector<double> scores;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    scores.push_back(scores_of(request.texts[i], predictions[i], task)[0]);
  }
  json::Writer out;
  out.begin_array();
  for (const std::size_t i : predict::greatest(scores, scores.size())) {
    out.begin_object().member("index", i);
    if (returns_texts) out.member("text", *request.texts[i].pair);
    out.member("score", scores[i]).end_object();
  }
  return {.body = out.end_array().text()};
}

}  // namespace detail

/// Writes the answer for one text: `[{"score": 0.9, "label": "pos"}, …]`, the highest score first.
inline void write_answer(json::Writer& out, const PredictInput& text,
                         const predict::Prediction& prediction, const predict::Task& task) {
  const auto scores = detail::scores_of(text, prediction, task);
  out.begin_array();
  for (const std::size_t i : predict::greatest(scores, scores.size())) {
    out.begin_object().member("score", scores[i]);
    out.member("label", predict::label_name(task.labels, i)).end_object();
  }
  out.end_array();
}

/// Reads a request: `{"inputs": …}`, also one for zero-shot classification.
[[nodiscard]] inline PredictRequest read(const json::Value& root, const TextLimits& limits) {
  if (zero_shot::asks_for(root)) return zero_shot::read(root, limits);
  const auto inputs = root.at("inputs");
  const PredictInput like{.write = write_answer,
                          .truncation = serve::detail::truncation(root, Truncation::none),
                          .raw_scores = serve::detail::flag(root, "raw_scores", false)};
  const auto items = inputs.is_array() ? inputs.items() : std::vector<json::Value>{};
  PredictRequest request{.single = items.empty() || !items.front().is_array(),
                         .model = serve::detail::model_in(root)};
  if (request.single) {
    serve::detail::read_sequence(inputs, request.texts.emplace_back(like));
  } else {
    serve::detail::check_count(items.size(), limits.client_batch);
    for (const auto& item : items) {
      if (!item.is_array()) throw item.error("expected an array, as the first one is");
      serve::detail::read_sequence(item, request.texts.emplace_back(like));
    }
  }
  for (const PredictInput& text : request.texts)
    serve::detail::check_not_empty(text.text, "inputs");
  return request;
}

/// Reads a request to `/rerank`: `{"query": "…", "texts": ["…", …]}`.
[[nodiscard]] inline PredictRequest read_rerank(const json::Value& root, const TextLimits& limits) {
  const PredictInput like{.text = std::string{root.at("query").string()},
                          .truncation = serve::detail::truncation(root, Truncation::none),
                          .raw_scores = serve::detail::flag(root, "raw_scores", false)};
  serve::detail::check_not_empty(like.text, "query");
  const bool returns_texts = serve::detail::flag(root, "return_text", false);
  PredictRequest request{.model = serve::detail::model_in(root),
                         .write = [returns_texts](const auto&... answer) {
                           return detail::write_ranks(returns_texts, answer...);
                         }};
  const auto texts = root.at("texts").items();
  serve::detail::check_not_empty(texts.empty() ? "" : "texts", "texts");
  serve::detail::check_count(texts.size(), limits.client_batch);
  serve::detail::check_copies("query", like.text.size(), texts.size(), "texts");
  for (const auto& text : texts) request.texts.emplace_back(like).pair = text.string();
  return request;
}

/// Tells whether a model has one output, so that it can rank texts.
[[nodiscard]] inline bool has_one_output(const predict::Task& task) {
  return task.problem_type == ProblemType::regression && !predict::has_several_values(task);
}

/// Writes what kind of classifier a model is, and its labels.
inline void write_classifier(json::Writer& out, const predict::Task& task) {
  out.key(has_one_output(task) ? "reranker" : "classifier").begin_object();
  out.key("id2label").begin_object();
  const std::size_t count = task.labels.size();
  for (std::size_t i = 0; i < count; ++i) out.member(std::to_string(i), task.labels[i]);
  out.end_object().key("label2id").begin_object();
  for (std::size_t i = 0; i < count; ++i) out.member(task.labels[i], i);
  out.end_object().end_object();
}

/// Returns the body of `/info`. `adapters` has the names of those that are served. A base that only
/// they give a head has a task without labels.
[[nodiscard]] inline std::string info(const ModelFacts& facts, const predict::Task& task,
                                      std::size_t max_length, const ServiceOptions& options,
                                      const std::vector<std::string>& adapters = {}) {
  json::Writer out;
  out.begin_object().member("model_id", facts.id).key("model_sha");
  facts.revision.empty() ? out.null() : out.value(facts.revision);
  out.member("model_dtype", facts.dtype);
  out.key("model_type").begin_object();
  if (task.embeds()) {
    const std::string pooling = task.pooling == "lasttoken" ? "last_token" : task.pooling;
    out.key("embedding").begin_object().member("pooling", pooling).end_object();
  } else {
    write_classifier(out, task);
  }
  out.end_object();
  if (!task.embeds()) out.member("problem_type", name(task.problem_type));
  out.member("max_concurrent_requests", options.max_concurrent_requests)
      .member("max_input_length", max_length)
      .member("max_batch_tokens", options.max_batch_tokens)
      .member("max_client_batch_size", options.max_client_batch_size)
      .member("auto_truncate", false)
      .member("tokenization_workers", std::thread::hardware_concurrency())
      .member("version", version);
  if (!adapters.empty()) out.member("adapters", adapters);
  for (const char* absent : {"max_batch_requests", "sha", "docker_label"}) out.key(absent).null();
  return out.end_object().text();
}

/// A request to `/tokenize`.
struct TokenizeRequest {
  std::vector<std::string> texts = {};
  bool special = true;  ///< whether special tokens are added
};

/// Reads a request to `/tokenize`: `{"inputs": "text", "add_special_tokens": true}` or a list of
/// texts.
[[nodiscard]] inline TokenizeRequest read_tokenize(std::string_view body, std::size_t max_texts) {
  return read_json(body, [&](const json::Value& root) {
    TokenizeRequest request{.special = serve::detail::flag(root, "add_special_tokens", true)};
    const auto inputs = root.at("inputs");
    const auto items = inputs.is_array() ? inputs.items() : std::vector{inputs};
    serve::detail::check_count(items.size(), max_texts);
    for (const auto& item : items) request.texts.emplace_back(item.string());
    return request;
  });
}

/// Appends the tokens of one text to the body of `/tokenize`.
inline void write_tokens(json::Writer& out, const std::vector<text::Token>& tokens) {
  const auto place = [&out](std::string_view name, const std::optional<std::size_t>& at) {
    out.key(name);
    at ? out.value(*at) : out.null();
  };
  out.begin_array();
  for (const text::Token& token : tokens) {
    out.begin_object().member("id", token.id).member("text", token.text);
    out.member("special", token.special);
    place("start", token.begin);
    place("stop", token.end);
    out.end_object();
  }
  out.end_array();
}

/// Reads a request to rank texts in the form of any contract.
[[nodiscard]] inline PredictRequest rank(const Call& call) {
  const auto check = [](const predict::Task& task) {
    const std::string problem = "model is not a re-ranker model: it ";
    if (task.embeds()) throw backend(problem + "embeds texts, so ask /similarity");
    if (predict::has_several_values(task)) throw backend(problem + "predicts several numbers");
    if (!has_one_output(task)) throw backend(problem + "has several labels");
  };
  const auto task = call.server.own_task();
  if (task && call.server.adapters().empty()) check(*task);  // before the body
  PredictRequest request = serve::read_rerank(call.http.body, call.forms.rank, call.limits());
  check(call.server.task_of(request.model, false));
  return request;
}

/// Answers a request to `/tokenize`.
[[nodiscard]] inline HttpResponse tokenize(const Call& call) {
  const auto request = read_tokenize(call.http.body, call.server.options().max_client_batch_size);
  json::Writer out;
  out.begin_array();
  for (const std::string& text : request.texts) {
    if (call.server.is_gone()) break;
    const auto tokens = call.server.tokens(text, request.special);
    if (!tokens) throw backend("this model's tokenizer does not name its ids");
    write_tokens(out, *tokens);
  }
  return {.body = out.end_array().text()};
}

/// Returns the contract.
[[nodiscard]] inline Contract contract() {
  const auto describe = [](const Call& call) {
    const ServerView& server = call.server;
    return HttpResponse{.body = info(server.facts(), server.own_task().value_or(predict::Task{}),
                                     server.longest_text(), server.options(), server.adapters())};
  };
  return {.routes = {{.path = "/info", .answer = describe},
                     {.method = "POST", .path = "/predict", .read = read_request},
                     {.method = "POST", .path = "/", .read = read_request},
                     {.method = "POST", .path = "/rerank", .read = rank},
                     {.method = "POST", .path = "/tokenize", .work = tokenize}},
          .forms = {.predict = {{.member = "inputs", .read = read}},
                    .rank = {{.member = "texts", .read = read_rerank}}}};
}

}  // namespace seqtrain::serve::tei
