#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/version.hpp>
#include <seqtrain/serve/answer.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/predictor.hpp>
#include <seqtrain/serve/request.hpp>

/// Bodies of text-embeddings-inference that are not predictions.
namespace seqtrain::serve {

/// Returns the body of `/info`.
[[nodiscard]] inline std::string info_body(const ModelFacts& facts, const Labels& labels,
                                           std::size_t count, std::size_t max_length,
                                           const ServiceOptions& options) {
  json::Writer out;
  const auto text_or_null = [&](std::string_view name, const std::string& text) {
    out.key(name);
    text.empty() ? out.null() : out.value(std::string_view{text});
  };
  out.begin_object().member("model_id", facts.id);
  text_or_null("model_sha", facts.revision);
  out.member("model_dtype", facts.dtype);
  out.key("model_type").begin_object().key("classifier").begin_object();
  out.key("id2label").begin_object();
  for (std::size_t i = 0; i < count; ++i) out.member(std::to_string(i), labels.name(i));
  out.end_object().key("label2id").begin_object();
  for (std::size_t i = 0; i < count; ++i) out.member(labels.name(i), i);
  out.end_object().end_object().end_object();
  out.member("problem_type", name(labels.type))
      .member("max_concurrent_requests", options.max_concurrent_requests)
      .member("max_input_length", max_length)
      .member("max_batch_tokens", options.max_batch_tokens)
      .key("max_batch_requests")
      .null()
      .member("max_client_batch_size", options.max_client_batch_size)
      .member("auto_truncate", false)
      .member("tokenization_workers", std::thread::hardware_concurrency())
      .member("version", version)
      .key("sha")
      .null()
      .key("docker_label")
      .null();
  return out.end_object().text();
}

/// Returns the texts of a request to `/tokenize`: `{"inputs": "text"}` or a list of texts.
[[nodiscard]] inline std::vector<std::string> read_tokenize(std::string_view body,
                                                            std::size_t max_texts) {
  return read_json(body, [&](const json::Value& root) {
    const auto inputs = root.at("inputs");
    std::vector<std::string> texts;
    if (!inputs.is_array()) {
      texts.emplace_back(inputs.string());
      return texts;
    }
    const auto items = inputs.items();
    detail::check_count(items.size(), max_texts);
    for (const auto& item : items) texts.emplace_back(item.string());
    return texts;
  });
}

/// Appends the tokens of one text to the body of `/tokenize`. Their places in the text are not
/// known.
inline void write_tokens(json::Writer& out, const std::vector<int>& ids,
                         const std::vector<Token>& tokens) {
  out.begin_array();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out.begin_object()
        .member("id", ids[i])
        .member("text", tokens[i].text)
        .member("special", tokens[i].special)
        .key("start")
        .null()
        .key("stop")
        .null()
        .end_object();
  }
  out.end_array();
}

}  // namespace seqtrain::serve
