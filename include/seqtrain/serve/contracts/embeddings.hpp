#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/predict/embedding.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/servable.hpp>

/// The contract of text-embeddings-inference for models that embed texts: `/embed` and
/// `/similarity`. The errors are `tei_error`.
namespace seqtrain::serve::embeddings {

/// Throws an `HttpError` if a model does not embed texts.
inline void check_embeds(const predict::Task& task) {
  if (!task.embeds()) {
    throw backend("model is not an embedding model: start the server with --embed for embeddings");
  }
}

/// Returns the check of a request for embeddings that are cut to `size` numbers, if that is above
/// 0. It throws an `HttpError` as `check_embeds` does, and one with status 422 if the model's
/// embeddings are shorter.
[[nodiscard]] inline auto check_size(std::size_t size) {
  return [size](const predict::Task& task) {
    check_embeds(task);
    if (size <= task.embedding_size) return;
    throw wrong_field("`dimensions` must be at most " + std::to_string(task.embedding_size));
  };
}

/// Reads the member `dimensions`: 0 if there is none.
[[nodiscard]] inline std::size_t dimensions_in(const json::Value& root) {
  const auto dimensions = root.find("dimensions");
  if (!dimensions) return 0;
  if (dimensions->integer() < 1) throw dimensions->error("must be at least 1");
  return static_cast<std::size_t>(dimensions->integer());
}

/// Adds a text to a request, or texts if `value` is a list.
inline void add_texts(const json::Value& value, const std::string& name, const PredictInput& like,
                      std::size_t most, PredictRequest& request) {
  const auto items = value.is_array() ? value.items() : std::vector{value};
  serve::detail::check_not_empty(items.empty() ? "" : name, name);
  serve::detail::check_count(items.size(), most);
  for (const auto& item : items) {
    PredictInput& text = request.texts.emplace_back(like);
    text.text = item.string();
    serve::detail::check_not_empty(text.text, name);
  }
}

/// Returns the answer of `/embed`: a list of embeddings.
inline HttpResponse write_embeddings(const predict::EmbeddingOptions& options,
                                     std::span<const predict::Prediction> predictions) {
  json::Writer out;
  out.begin_array();
  for (const auto& each : predictions) out.value(predict::finished(each.logits, options));
  return {.body = out.end_array().text()};
}

/// Reads a request to `/embed`: `{"inputs": "text", "normalize": true, "dimensions": 256}`, or a
/// list of texts.
[[nodiscard]] inline PredictRequest read_embed(const json::Value& root, const TextLimits& limits) {
  const PredictInput like{.truncation = serve::detail::truncation(root, Truncation::none),
                          .raw_scores = true};
  const predict::EmbeddingOptions options{
      .size = dimensions_in(root), .normalize = serve::detail::flag(root, "normalize", true)};
  PredictRequest request{
      .model = serve::detail::model_in(root),
      .check = check_size(options.size),
      .write = [options](const PredictRequest&, const predict::Task&, const auto predictions) {
        return write_embeddings(options, predictions);
      }};
  add_texts(root.at("inputs"), "inputs", like, limits.client_batch, request);
  request.single = !root.at("inputs").is_array();
  return request;
}

/// Returns the answer of `/similarity`: the cosine of each text with the first one.
inline HttpResponse write_similarities(const PredictRequest&, const predict::Task&,
                                       std::span<const predict::Prediction> predictions) {
  json::Writer out;
  out.begin_array();
  for (const auto& each : predictions.subspan(1)) {
    out.value(predict::cosine(predictions.front().logits, each.logits));
  }
  return {.body = out.end_array().text()};
}

/// Reads a request to `/similarity`: `{"inputs": {"source_sentence": "…", "sentences": ["…"]}}`.
[[nodiscard]] inline PredictRequest read_similarity(const json::Value& root,
                                                    const TextLimits& limits) {
  const auto parameters = root.find("parameters");
  const auto& options = parameters ? *parameters : root;
  const PredictInput like{.truncation = serve::detail::truncation(options, Truncation::none),
                          .raw_scores = true};
  const auto inputs = root.at("inputs");
  const auto sentences = inputs.at("sentences");
  static_cast<void>(sentences.items());  // throws if it is no list
  PredictRequest request{
      .model = serve::detail::model_in(root), .check = check_embeds, .write = write_similarities};
  const std::string source{inputs.at("source_sentence").string()};
  serve::detail::check_not_empty(source, "source_sentence");
  request.texts.emplace_back(like).text = source;
  add_texts(sentences, "sentences", like, limits.client_batch, request);
  return request;
}

/// Returns the reader of a route whose request is JSON that `read` reads.
[[nodiscard]] inline auto read_by(PredictRequest (*read)(const json::Value&, const TextLimits&)) {
  return [read](const Call& call) {
    return read_json(call.http.body,
                     [&](const json::Value& root) { return read(root, call.limits()); });
  };
}

/// Returns the contract.
[[nodiscard]] inline Contract contract() {
  return {.routes = {{.method = "POST", .path = "/embed", .read = read_by(read_embed)},
                     {.method = "POST", .path = "/similarity", .read = read_by(read_similarity)}}};
}

}  // namespace seqtrain::serve::embeddings
