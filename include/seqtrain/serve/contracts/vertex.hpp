#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/contract.hpp>
#include <seqtrain/serve/contracts/health.hpp>
#include <seqtrain/serve/contracts/tei.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/options.hpp>
#include <seqtrain/serve/read_request.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

/// The contract of Vertex AI's custom containers: `{"instances": […]}` is answered by
/// `{"predictions": […]}`. The errors are those of text-embeddings-inference.
namespace seqtrain::serve::vertex {

/// Writes the answer for a text: `{"label": "pos", "scores": {"pos": 0.9, …}}`, as the program
/// `predict` does, with the window that decided.
inline void write_answer(json::Writer& out, const PredictInput& text,
                         const predict::Prediction& prediction, const predict::Task& task) {
  predict::write_json(out, prediction, task, {.top_k = text.top_k, .logits = text.raw_scores});
}

/// Writes the label, a list of the labels, the value, or an object of several values, which is the
/// answer for bytes.
inline void write_label(json::Writer& out, const PredictInput&,
                        const predict::Prediction& prediction, const predict::Task& task) {
  const bool many = task.problem_type == ProblemType::multi_label;
  if (many) out.begin_array();
  for (const std::size_t i : prediction.labels) out.value(predict::label_name(task.labels, i));
  if (many) out.end_array();
  if (predict::has_several_values(task)) return predict::write_values(out, prediction, task);
  if (task.problem_type == ProblemType::regression) out.value(prediction.logits[0]);
}

/// Returns the response to a request.
inline HttpResponse write_predictions(const PredictRequest& request, const predict::Task& task,
                                      std::span<const predict::Prediction> predictions) {
  return {.body = R"({"predictions":)" + write_texts(request, task, predictions).body + "}"};
}

namespace detail {

inline std::string from_base64(const json::Value& value) {
  auto bytes = decode_base64(value.string(), Base64::any);
  if (!bytes) throw value.error("is not base64");
  if (!text::is_valid_utf8(*bytes)) throw value.error("is not UTF-8 once decoded");
  return *std::move(bytes);
}

/// Returns the member `top_k`, or `usual` if there is none.
inline std::size_t top_k(const json::Value& value, std::size_t usual) {
  const auto member = value.find("top_k");
  if (!member) return usual;
  if (!member->is_integer() || member->integer() < 1) {
    throw member->error("must be at least 1", "leave it out for the scores of all labels");
  }
  return static_cast<std::size_t>(member->integer());
}

/// Reads an instance: a text, `{"text", "text_pair"}`, `{"inputs"}` as in
/// text-embeddings-inference, `{"b64"}`, or `{"data": {"b64"}}`.
inline void read_instance(const json::Value& instance, PredictInput& text) {
  if (!instance.is_object()) {
    text.text = instance.string();
    return;
  }
  if (const auto model = instance.find("model")) {
    throw model->error("is the model of all instances", "put it into parameters");
  }
  text.truncation = serve::detail::truncation(instance, text.truncation);
  text.raw_scores = serve::detail::flag(instance, "raw_scores", text.raw_scores);
  text.top_k = top_k(instance, text.top_k);
  const auto data = instance.find("data");
  if (const auto inputs = instance.find("inputs")) {
    text.write = tei::write_answer;
    serve::detail::read_sequence(*inputs, text);
  } else if (const auto bytes = (data && data->is_object() ? *data : instance).find("b64")) {
    text.write = write_label;
    text.text = from_base64(*bytes);
  } else if (data) {
    text.write = write_label;
    text.text = data->string();
  } else {
    text.text = instance.at("text").string();
    if (const auto pair = instance.find("text_pair")) text.pair = pair->string();
  }
}

}  // namespace detail

/// Reads a request: `{"instances": […], "parameters": {…}}`.
[[nodiscard]] inline PredictRequest read(const json::Value& root, const TextLimits& limits) {
  PredictInput like{.write = write_answer, .truncation = Truncation::right};
  PredictRequest request{.model = serve::detail::model_in(root), .write = write_predictions};
  if (const auto parameters = root.find("parameters")) {
    for (const auto& [name, value] : parameters->members()) {
      constexpr std::string_view known[] = {"truncate", "truncation_direction", "raw_scores",
                                            "top_k", "model"};
      if (std::ranges::find(known, name) != std::end(known)) continue;
      // An error does not repeat very long names.
      throw(name.size() <= 64 ? value : *parameters)
          .error("is unknown or has unknown members",
                 "use truncate, truncation_direction, raw_scores, top_k or model");
    }
    if (const auto model = serve::detail::model_in(*parameters)) request.model = model;
    like.truncation = serve::detail::truncation(*parameters, like.truncation);
    like.raw_scores = serve::detail::flag(*parameters, "raw_scores", false);
    like.top_k = detail::top_k(*parameters, 0);
  }
  const auto items = root.at("instances").items();
  serve::detail::check_count(items.size(), limits.texts);
  for (const auto& item : items) detail::read_instance(item, request.texts.emplace_back(like));
  return request;
}

/// Returns the contract, without the paths that Vertex AI chooses.
[[nodiscard]] inline Contract contract() {
  return {.routes = {{.method = "POST", .path = "/vertex", .read = read_request}},
          .forms = {.predict = {{.member = "instances", .read = read}}}};
}

/// Returns the two paths that Vertex AI chooses. They may be any, even equal ones.
[[nodiscard]] inline Contract chosen_paths(const ServiceOptions& options) {
  const bool is_ping = options.health_route == "/ping";
  const auto check = is_ping ? health::ping : health::check;
  return {.routes = {{.method = "POST", .path = options.predict_route, .read = read_request},
                     {.path = options.health_route, .open = true, .answer = check}}};
}

}  // namespace seqtrain::serve::vertex
