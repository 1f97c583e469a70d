#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/byte_text.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/refusal.hpp>
#include <seqtrain/serve/servable.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::serve {

/// The API whose formats an answer follows.
enum class Contract { tei, vertex, torch_serve };

/// The form of the answer for one text.
enum class Form {
  ranked,  ///< `[{"score": 0.9, "label": "pos"}, …]`, the highest score first
  object,  ///< `{"label": "pos", "scores": {"pos": 0.9, …}}`, as the program `predict` writes it
  label,   ///< `"pos"` alone
  categories,  ///< `{"Categories": "pos", "Tensor": [0.1, 0.9]}`
};

/// One text or pair of texts and the options of its answer.
struct Text {
  std::string text = {};
  std::optional<std::string> pair = {};
  Form form = Form::ranked;
  Truncation truncation = Truncation::none;
  bool raw_scores = false;  ///< the answer has logits instead of scores
};

/// A request to classify texts.
struct Request {
  Contract contract = Contract::tei;
  bool single = false;  ///< the answer is not put into a list, because there is one text
  std::vector<Text> texts = {};
  std::optional<std::string> model = {};  ///< the name of the adapter that is to answer
  bool ranks = false;  ///< the answer is a list of the texts by their scores, as `/rerank`'s
  bool returns_texts = false;  ///< that list has the texts too
  /// Writes the answer, given one prediction per text. If it is empty `answer_body` does.
  std::function<HttpResponse(const predict::Task&, std::span<const predict::Prediction>)> write{};
};

/// The most texts that a request may have.
struct TextLimits {
  std::size_t client_batch = 32;  ///< in text-embeddings-inference's form
  std::size_t texts = 32768;      ///< in any form
};

namespace detail {

inline void check_count(std::size_t count, std::size_t limit) {
  if (count <= limit) return;
  throw too_large("batch size " + std::to_string(count) + " > maximum allowed batch size " +
                  std::to_string(limit));
}

inline void check_not_empty(std::string_view text, const std::string& name) {
  if (text.empty()) throw Refusal{400, error_type::empty, "`" + name + "` cannot be empty"};
}

inline bool flag(const json::Value& object, std::string_view name, bool otherwise) {
  const auto value = object.find(name);
  return value ? value->boolean() : otherwise;
}

/// Reads the member `model` of an object.
inline std::optional<std::string> model_in(const json::Value& object) {
  const auto name = object.find("model");
  return name ? std::optional<std::string>{name->string()} : std::nullopt;
}

/// Reads the members `truncate` and `truncation_direction` of an object.
inline Truncation truncation(const json::Value& object, Truncation otherwise) {
  const bool truncate = flag(object, "truncate", otherwise != Truncation::none);
  Truncation side = otherwise == Truncation::left ? Truncation::left : Truncation::right;
  if (const auto direction = object.find("truncation_direction")) {
    const auto name = direction->string();
    const bool left = name == "Left" || name == "left";
    if (!left && name != "Right" && name != "right") throw direction->error("is Left or Right");
    side = left ? Truncation::left : Truncation::right;
  }
  return truncate ? side : Truncation::none;
}

/// Reads a text given as `["text"]` or a pair given as `["first", "second"]`.
inline void read_sequence(const json::Value& value, Text& text) {
  if (!value.is_array()) {
    text.text = value.string();
    return;
  }
  const auto items = value.items();
  if (items.empty() || items.size() > 2) throw value.error("expected a text or a pair of texts");
  text.text = items[0].string();
  if (items.size() == 2) text.pair = items[1].string();
}

inline Request read_tei(const json::Value& root, const json::Value& inputs,
                        const TextLimits& limits) {
  const Text like{.truncation = truncation(root, Truncation::none),
                  .raw_scores = flag(root, "raw_scores", false)};
  const auto items = inputs.is_array() ? inputs.items() : std::vector<json::Value>{};
  Request request{.single = items.empty() || !items.front().is_array(), .model = model_in(root)};
  if (request.single) {
    read_sequence(inputs, request.texts.emplace_back(like));
  } else {
    check_count(items.size(), limits.client_batch);
    for (const auto& item : items) {
      if (!item.is_array()) throw item.error("expected an array, as the first one is");
      read_sequence(item, request.texts.emplace_back(like));
    }
  }
  for (const Text& text : request.texts) check_not_empty(text.text, "inputs");
  return request;
}

inline std::string from_base64(const json::Value& value) {
  auto bytes = decode_base64(value.string(), Base64::any);
  if (!bytes) throw value.error("is not base64");
  if (!text::is_valid_utf8(*bytes)) throw value.error("is not UTF-8 once decoded");
  return *std::move(bytes);
}

/// Reads one of Vertex AI's instances: a text, `{"text", "text_pair"}`, `{"inputs"}` as in
/// text-embeddings-inference, `{"b64"}`, or `{"data": {"b64"}}`.
inline void read_instance(const json::Value& instance, Text& text) {
  if (!instance.is_object()) {
    text.text = instance.string();
    return;
  }
  if (const auto model = instance.find("model")) {
    throw model->error("is the model of all instances", "put it into parameters");
  }
  text.truncation = truncation(instance, text.truncation);
  text.raw_scores = flag(instance, "raw_scores", text.raw_scores);
  const auto data = instance.find("data");
  if (const auto inputs = instance.find("inputs")) {
    text.form = Form::ranked;
    read_sequence(*inputs, text);
  } else if (const auto bytes = (data && data->is_object() ? *data : instance).find("b64")) {
    text.form = Form::label;
    text.text = from_base64(*bytes);
  } else if (data) {
    text.form = Form::label;
    text.text = data->string();
  } else {
    text.text = instance.at("text").string();
    if (const auto pair = instance.find("text_pair")) text.pair = pair->string();
  }
}

inline Request read_vertex(const json::Value& root, const json::Value& instances,
                           const TextLimits& limits) {
  Text like{.form = Form::object, .truncation = Truncation::right};
  Request request{.contract = Contract::vertex, .model = model_in(root)};
  if (const auto parameters = root.find("parameters")) {
    for (const auto& [name, value] : parameters->members()) {
      constexpr std::string_view known[] = {"truncate", "truncation_direction", "raw_scores",
                                            "model"};
      if (std::ranges::find(known, name) != std::end(known)) continue;
      // An error does not repeat very long names.
      throw(name.size() <= 64 ? value : *parameters)
          .error("is unknown or has unknown members",
                 "use truncate, truncation_direction, raw_scores or model");
    }
    if (const auto model = model_in(*parameters)) request.model = model;
    like.truncation = truncation(*parameters, like.truncation);
    like.raw_scores = flag(*parameters, "raw_scores", false);
  }
  const auto items = instances.items();
  check_count(items.size(), limits.texts);
  for (const auto& item : items) read_instance(item, request.texts.emplace_back(like));
  return request;
}

/// Reads a list of texts, which is the form of TorchServe's handlers.
inline Request read_list(const json::Value& root, const TextLimits& limits) {
  Request request{.contract = Contract::torch_serve};
  const auto items = root.items();
  check_count(items.size(), limits.texts);
  const Text like{.form = Form::categories, .truncation = Truncation::right};
  for (const auto& item : items) request.texts.emplace_back(like).text = item.string();
  return request;
}

}  // namespace detail

/// Parses JSON and calls `read` with its root. Throws a `Refusal` with status 400 if the text is
/// not JSON, and with status 422 if `read` throws an `InputError`.
template <class Read>
auto read_json(std::string_view body, const Read& read) {
  const auto document = [&] {
    try {
      return json::Document::parse(body, "body");
    } catch (const InputError& error) {
      throw Refusal{400, error_type::validation, error.what()};
    }
  }();
  try {
    return read(document.root());
  } catch (const Refusal&) {
    throw;
  } catch (const InputError& error) {
    throw wrong_field(error.what());
  }
}

/// Reads the body of a request. Its form decides the contract: a list is TorchServe's, an object
/// with `inputs` is text-embeddings-inference's, an object with `instances` is Vertex AI's. Throws
/// a `Refusal` that names the wrong field.
[[nodiscard]] inline Request read_request(std::string_view body, const TextLimits& limits = {}) {
  return read_json(body, [&](const json::Value& root) {
    if (root.is_array()) return detail::read_list(root, limits);
    if (!root.is_object()) throw root.error("expected an object or a list of texts");
    const auto inputs = root.find("inputs");
    const auto instances = root.find("instances");
    if (inputs && instances) throw root.error("has both `inputs` and `instances`");
    if (inputs) return detail::read_tei(root, *inputs, limits);
    if (instances) return detail::read_vertex(root, *instances, limits);
    throw root.error("has neither `inputs` nor `instances`");
  });
}

/// Reads the body of a request to `/rerank`: `{"query": "…", "texts": ["…", …]}`. Throws a
/// `Refusal` that names the wrong field.
[[nodiscard]] inline Request read_rerank(std::string_view body, const TextLimits& limits = {}) {
  return read_json(body, [&](const json::Value& root) {
    const Text like{.text = std::string{root.at("query").string()},
                    .truncation = detail::truncation(root, Truncation::none),
                    .raw_scores = detail::flag(root, "raw_scores", false)};
    detail::check_not_empty(like.text, "query");
    Request request{.model = detail::model_in(root),
                    .ranks = true,
                    .returns_texts = detail::flag(root, "return_text", false)};
    const auto texts = root.at("texts").items();
    detail::check_not_empty(texts.empty() ? "" : "texts", "texts");
    detail::check_count(texts.size(), limits.client_batch);
    for (const auto& text : texts) request.texts.emplace_back(like).pair = text.string();
    return request;
  });
}

/// Reads the body of a request to one of TorchServe's paths. A body that begins with `{` or `[` is
/// JSON, see `read_request`. Any other body is one text, as `curl -T file` sends it.
[[nodiscard]] inline Request read_torch_serve(std::string_view body,
                                              const TextLimits& limits = {}) {
  const auto begin = body.find_first_not_of(" \t\r\n");
  if (begin == body.npos) throw Refusal{400, error_type::empty, "the body cannot be empty"};
  if (body[begin] == '{' || body[begin] == '[') return read_request(body, limits);
  return {
      .contract = Contract::torch_serve,
      .single = true,
      .texts = {
          {.text = std::string{body}, .form = Form::categories, .truncation = Truncation::right}}};
}

}  // namespace seqtrain::serve
