#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/version.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/contracts/request.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/text/tokens.hpp>

/// Bodies of text-embeddings-inference: `/info` and `/tokenize`. Errors are in serve/refusal.hpp.
namespace seqtrain::serve {

/// Tells whether a model has one output, so that it can rank texts.
[[nodiscard]] inline bool has_one_output(const predict::Task& task) {
  return task.problem_type == ProblemType::regression;
}

/// Returns the body of `/info`. `adapters` has the names of those that are served.
[[nodiscard]] inline std::string info_body(const ModelFacts& facts, const predict::Task& task,
                                           std::size_t max_length, const ServiceOptions& options,
                                           const std::vector<std::string>& adapters = {}) {
  json::Writer out;
  out.begin_object().member("model_id", facts.id).key("model_sha");
  facts.revision.empty() ? out.null() : out.value(facts.revision);
  out.member("model_dtype", facts.dtype);
  out.key("model_type").begin_object();
  out.key(has_one_output(task) ? "reranker" : "classifier").begin_object();
  out.key("id2label").begin_object();
  const std::size_t count = std::max<std::size_t>(task.labels.size(), 1);
  const auto label = [&](std::size_t i) { return predict::label_name(task, i); };
  for (std::size_t i = 0; i < count; ++i) out.member(std::to_string(i), label(i));
  out.end_object().key("label2id").begin_object();
  for (std::size_t i = 0; i < count; ++i) out.member(label(i), i);
  out.end_object().end_object().end_object();
  out.member("problem_type", name(task.problem_type))
      .member("max_concurrent_requests", options.max_concurrent_requests)
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
    TokenizeRequest request{.special = detail::flag(root, "add_special_tokens", true)};
    const auto inputs = root.at("inputs");
    const auto items = inputs.is_array() ? inputs.items() : std::vector{inputs};
    detail::check_count(items.size(), max_texts);
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

}  // namespace seqtrain::serve
