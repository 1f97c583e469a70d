#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/predict/zero_shot.hpp>
#include <seqtrain/serve/http_error.hpp>
#include <seqtrain/serve/http_message.hpp>
#include <seqtrain/serve/request.hpp>
#include <seqtrain/serve/servable.hpp>

/// Zero-shot classification in the form of Hugging Face's inference API: `{"inputs", "parameters":
/// {"candidate_labels"}}` is answered by `{"sequence", "labels", "scores"}`.
namespace seqtrain::serve::zero_shot {
namespace detail {

/// The texts of a request, which the answer repeats, and their labels.
struct Texts {
  std::vector<std::string> texts = {};
  predict::CandidateLabels candidates = {};
};

/// Reads `parameters`.
inline predict::CandidateLabels read_candidates(const json::Value& parameters,
                                                const TextLimits& limits) {
  predict::CandidateLabels candidates{.multi_label =
                                          serve::detail::flag(parameters, "multi_label", false)};
  const auto labels = parameters.at("candidate_labels");
  const auto items = labels.items();
  serve::detail::check_not_empty(items.empty() ? "" : "labels", "candidate_labels");
  serve::detail::check_count(items.size(), limits.texts);
  for (const auto& item : items) {
    const std::string_view label = item.string();
    if (label.empty()) throw item.error("is empty");
    candidates.labels.emplace_back(label);
  }
  if (candidates.repeated()) throw labels.error("has one label twice");
  if (const auto hypothesis = parameters.find("hypothesis_template")) {
    candidates.hypothesis = hypothesis->string();
    if (!candidates.has_place()) {
      throw hypothesis->error("must have {} once, where the label is put");
    }
  }
  return candidates;
}

/// Throws an `HttpError` if a model does no natural language inference.
inline void check(const predict::Task& task) {
  check_classifies(task);
  try {
    static_cast<void>(predict::entailment_outputs(task));
  } catch (const InputError& error) {
    throw backend(error.what());
  }
}

/// Writes the answer for a text, given the predictions for its pairs; the highest score first.
inline void write_text(json::Writer& out, const std::string& text,
                       const predict::CandidateLabels& candidates, const predict::Task& nli,
                       std::span<const predict::Prediction> pairs) {
  const auto outputs = predict::entailment_outputs(nli);
  const auto task = candidates.task();
  const bool alone = task.problem_type == ProblemType::multi_label;
  std::vector<float> logits;
  for (const auto& pair : pairs) {
    logits.push_back(predict::zero_shot_logit(pair.logits, outputs, alone));
  }
  const auto scores = predict::scores(logits, task);
  const auto order = predict::greatest(scores, scores.size());
  out.begin_object().member("sequence", text).key("labels").begin_array();
  for (const std::size_t i : order) out.value(candidates.labels[i]);
  out.end_array().key("scores").begin_array();
  for (const std::size_t i : order) out.value(scores[i]);
  out.end_array().end_object();
}

/// Returns the response to a request.
inline HttpResponse write(const Texts& of, const PredictRequest& request, const predict::Task& nli,
                          std::span<const predict::Prediction> predictions) {
  const std::size_t labels = of.candidates.labels.size();
  json::Writer out;
  if (!request.single) out.begin_array();
  for (std::size_t i = 0; i < of.texts.size(); ++i) {
    write_text(out, of.texts[i], of.candidates, nli, predictions.subspan(i * labels, labels));
  }
  if (!request.single) out.end_array();
  return {.body = out.text()};
}

}  // namespace detail

/// Tells whether a request asks for zero-shot classification.
[[nodiscard]] inline bool asks_for(const json::Value& root) {
  const auto parameters = root.find("parameters");
  return parameters && parameters->is_object() && parameters->find("candidate_labels");
}

/// Reads a request for which `asks_for` is true. Each text is put beside each hypothesis, and is
/// cut if the pair is too long.
[[nodiscard]] inline PredictRequest read(const json::Value& root, const TextLimits& limits) {
  const auto of = std::make_shared<detail::Texts>();
  of->candidates = detail::read_candidates(root.at("parameters"), limits);
  const auto inputs = root.at("inputs");
  const auto items = inputs.is_array() ? inputs.items() : std::vector{inputs};
  serve::detail::check_not_empty(items.empty() ? "" : "inputs", "inputs");
  serve::detail::check_count(items.size(), limits.client_batch);
  const std::size_t labels = of->candidates.labels.size();
  serve::detail::check_count(items.size() * labels, limits.texts);
  PredictRequest request{
      .single = !inputs.is_array(),
      .model = serve::detail::model_in(root),
      .check = detail::check,
      .write = [of](const auto&... answer) { return detail::write(*of, answer...); }};
  std::size_t bytes = 0;
  for (const auto& item : items) {
    bytes += of->texts.emplace_back(item.string()).size();
    serve::detail::check_not_empty(of->texts.back(), "inputs");
  }
  serve::detail::check_copies("inputs", bytes, labels, "labels");
  serve::detail::check_copies("hypothesis_template", of->candidates.hypothesis.size(),
                              items.size() * labels, "texts and labels");
  for (const std::string& text : of->texts) {
    for (const std::string& label : of->candidates.labels) {
      request.texts.push_back({.text = text,
                               .pair = of->candidates.about(label),
                               .truncation = Truncation::only_first});
    }
  }
  return request;
}

}  // namespace seqtrain::serve::zero_shot
