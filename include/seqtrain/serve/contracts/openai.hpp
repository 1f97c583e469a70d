#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/predict/embedding.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/contracts/embeddings.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/servable.hpp>

/// OpenAI's contract for embeddings: `/v1/embeddings`, with its errors.
namespace seqtrain::serve::openai {

/// Returns the response that refuses a request: `{"error": {"message", "type", …}}`.
[[nodiscard]] inline HttpResponse error(const HttpError& error) {
  const std::string_view type = error.status() < 500 ? "invalid_request_error" : "server_error";
  json::Writer out;
  out.begin_object().key("error").begin_object();
  out.member("message", std::string_view{error.what()}).member("type", type);
  out.key("param").null().key("code").null();
  return {.status = error.status(), .body = out.end_object().end_object().text()};
}

/// The options of an answer.
struct Options {
  predict::EmbeddingOptions embedding = {.normalize = true};
  bool base64 = false;     ///< an embedding is the base64 of its numbers in fp32, little-endian
  std::string model = {};  ///< the name that the request gives the model
};

/// Returns the answer.
inline HttpResponse write(const Options& options, const PredictRequest& request,
                          const predict::Task&, std::span<const predict::Prediction> predictions) {
  static_assert(std::endian::native == std::endian::little);
  json::Writer out;
  out.begin_object().member("object", "list").key("data").begin_array();
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const auto numbers = predict::finished(predictions[i].logits, options.embedding);
    out.begin_object().member("object", "embedding").key("embedding");
    if (options.base64) {
      const auto* const bytes = reinterpret_cast<const char*>(numbers.data());
      out.value(encode_base64({bytes, numbers.size() * sizeof(float)}));
    } else {
      out.value(numbers);
    }
    out.member("index", i).end_object();
  }
  out.end_array().member("model", options.model).key("usage").begin_object();
  out.member("prompt_tokens", request.tokens).member("total_tokens", request.tokens);
  return {.body = out.end_object().end_object().text()};
}

/// Reads a request: `{"input": "text", "model": "…", "encoding_format": "base64"}`, or a list of
/// texts.
[[nodiscard]] inline PredictRequest read(const json::Value& root, const TextLimits& limits) {
  PredictRequest request{.model = serve::detail::model_in(root)};
  Options options{.model = request.model.value_or("")};
  options.embedding.size = embeddings::dimensions_in(root);
  request.check = embeddings::check_size(options.embedding.size);
  if (const auto format = root.find("encoding_format")) {
    options.base64 = format->string() == "base64";
    if (!options.base64 && format->string() != "float") {
      throw format->error("must be float or base64");
    }
  }
  const auto input = root.at("input");
  constexpr std::size_t most_texts = 2048;  // OpenAI's limit
  const std::size_t most = std::min(limits.texts, most_texts);
  embeddings::add_texts(input, "input", {.raw_scores = true}, most, request);
  request.single = !input.is_array();
  request.write = [options](const auto&... answer) { return write(options, answer...); };
  return request;
}

/// Returns the contract.
[[nodiscard]] inline Contract contract() {
  return {
      .routes = {{.method = "POST", .path = "/v1/embeddings", .read = embeddings::read_by(read)}},
      .error = error,
      .error_prefix = "/v1/embeddings"};
}

}  // namespace seqtrain::serve::openai
