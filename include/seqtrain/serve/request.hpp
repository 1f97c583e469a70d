#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/servable.hpp>

/// Types and functions of all contracts: a contract reads a `PredictRequest`, which has the
/// functions that write its answer.
namespace seqtrain::serve {

struct PredictInput;
struct PredictRequest;

/// Writes the answer for one text.
using WriteAnswer = void (*)(json::Writer& out, const PredictInput& text,
                             const predict::Prediction& prediction, const predict::Task& task);

/// Returns the response to a request: the answer for its only text, or a list of the answers. There
/// is one prediction per text, in order.
HttpResponse write_texts(const PredictRequest& request, const predict::Task& task,
                         std::span<const predict::Prediction> predictions);

/// Throws an `HttpError` if a model is no classifier.
inline void check_classifies(const predict::Task& task) {
  if (task.embeds()) throw backend("model embeds texts and has no labels: ask /embed");
}

/// One text or pair of texts and the options of its answer.
struct PredictInput {
  std::string text = {};
  std::optional<std::string> pair = {};
  WriteAnswer write = nullptr;
  Truncation truncation = Truncation::none;
  bool raw_scores = false;  ///< the answer has logits instead of scores
  std::size_t top_k = 0;    ///< if above 0, the answer has only this many scores, the greatest ones
};

/// A request to classify texts.
struct PredictRequest {
  bool single = false;  ///< the answer is not put into a list, because there is one text
  std::vector<PredictInput> texts = {};
  std::optional<std::string> model = {};  ///< the name of the adapter that is to answer
  bool strict_model = false;  ///< a model without adapters, too, answers only under its own name
  /// Throws an `HttpError` if a model with this task cannot answer.
  std::function<void(const predict::Task& task)> check = check_classifies;
  std::size_t tokens = 0;  ///< ids that the model reads, once the texts are encoded
  std::function<decltype(write_texts)> write = write_texts;
};

inline HttpResponse write_texts(const PredictRequest& request, const predict::Task& task,
                                std::span<const predict::Prediction> predictions) {
  json::Writer out;
  if (!request.single) out.begin_array();
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    request.texts[i].write(out, request.texts[i], predictions[i], task);
  }
  if (!request.single) out.end_array();
  return {.body = out.text()};
}

/// The most texts that a request may have.
struct TextLimits {
  std::size_t client_batch = 32;  ///< the most in text-embeddings-inference's form
  std::size_t texts = 32768;      ///< the most in any form
};

/// Returns the response to a request, given one prediction per text. Throws an `HttpError` with
/// status 424 if a number of the answer is not finite: a score, or a logit where the answer has
/// logits.
[[nodiscard]] inline HttpResponse answer(const PredictRequest& request, const predict::Task& task,
                                         std::span<const predict::Prediction> predictions) {
  const auto is_finite = [](double number) { return std::isfinite(number); };
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const auto& [labels, scores, logits, window] = predictions[i];
    if (!std::ranges::all_of(scores, is_finite)) throw backend("a score is not a finite number");
    if (request.texts[i].raw_scores && !std::ranges::all_of(logits, is_finite)) {
      throw backend("a logit is not a finite number");
    }
  }
  return request.write(request, task, predictions);
}

/// Parses JSON and calls `read` with its root. Throws an `HttpError` with status 400 if the text is
/// not JSON, and with status 422 if `read` throws an `InputError`.
template <class Read>
auto read_json(std::string_view body, const Read& read) {
  const auto document = [&] {
    try {
      return json::Document::parse(body, "body");
    } catch (const InputError& error) {
      throw HttpError{400, error_type::validation, error.what()};
    }
  }();
  try {
    return read(document.root());
  } catch (const HttpError&) {
    throw;
  } catch (const InputError& error) {
    throw wrong_field(error.what());
  }
}

namespace detail {

inline void check_count(std::size_t count, std::size_t limit) {
  if (count <= limit) return;
  throw too_large("batch size " + std::to_string(count) + " > maximum allowed batch size " +
                  std::to_string(limit));
}

/// Throws an `HttpError` if so many copies of the `bytes` bytes of a field are too large.
inline void check_copies(const std::string& field, std::size_t bytes, std::size_t copies,
                         const std::string& of) {
  constexpr std::size_t most = std::size_t{64} << 20;
  if (bytes <= most / copies) return;
  throw too_large("`" + field + "` has " + std::to_string(bytes) + " bytes for each of " +
                  std::to_string(copies) + " " + of + ", in all more than " + std::to_string(most) +
                  "; send fewer " + of + " in a request");
}

inline void check_not_empty(std::string_view text, const std::string& name) {
  if (text.empty()) throw HttpError{400, error_type::empty, "`" + name + "` cannot be empty"};
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
inline void read_sequence(const json::Value& value, PredictInput& text) {
  if (!value.is_array()) {
    text.text = value.string();
    return;
  }
  const auto items = value.items();
  if (items.empty() || items.size() > 2) throw value.error("expected a text or a pair of texts");
  text.text = items[0].string();
  if (items.size() == 2) text.pair = items[1].string();
}

/// Returns the names of the labels that a text has, with `;` between them.
inline std::string joined_labels(std::span<const std::size_t> ids, const predict::Task& task) {
  std::string names;
  for (const auto id : ids)
    names += (names.empty() ? "" : ";") + predict::label_name(task.labels, id);
  return names;
}

}  // namespace detail
}  // namespace seqtrain::serve
