#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/predict/prediction.hpp>
#include <seqtrain/serve/contracts/request.hpp>

namespace seqtrain::serve {
namespace detail {

/// Returns the scores of text-embeddings-inference's form: the logits if the request wants them.
inline std::vector<double> tei_scores(const Text& text, const predict::Prediction& prediction,
                                      const predict::Task& task) {
  const auto& logits = prediction.logits;
  if (text.raw_scores) return {logits.begin(), logits.end()};
  if (logits.size() == 1) return {predict::relevance(logits[0], task)};
  return prediction.scores;
}

/// Returns the names of the labels that a text has, with `;` between them.
inline std::string joined_labels(std::span<const std::size_t> ids, const predict::Task& task) {
  std::string names;
  for (const auto id : ids) names += (names.empty() ? "" : ";") + predict::label_name(task, id);
  return names;
}

/// Writes the prediction for one text in the form that the request asks for.
inline void write_answer(json::Writer& out, const Text& text, const predict::Prediction& prediction,
                         const predict::Task& task) {
  const bool regression = task.problem_type == ProblemType::regression;
  const bool many = task.problem_type == ProblemType::multi_label;
  const auto name = [&task](std::size_t i) { return predict::label_name(task, i); };
  if (text.form == Form::object) {
    predict::write_json(out, prediction, task, {.logits = text.raw_scores});
  } else if (text.form == Form::ranked) {
    const auto scores = tei_scores(text, prediction, task);
    out.begin_array();
    for (const std::size_t i : predict::greatest(scores, scores.size())) {
      out.begin_object().member("score", scores[i]).member("label", name(i)).end_object();
    }
    out.end_array();
  } else if (text.form == Form::categories) {
    json::Writer number;
    out.begin_object().key("Categories");
    out.value(regression ? number.value(prediction.logits[0]).text()
                         : joined_labels(prediction.labels, task));
    out.key("Tensor").begin_array();
    for (const double score : prediction.scores) out.value(score);
    out.end_array().end_object();
  } else {  // the label, a list of the labels, or the value
    if (many) out.begin_array();
    for (const std::size_t i : prediction.labels) out.value(name(i));
    if (many) out.end_array();
    if (regression) out.value(prediction.logits[0]);
  }
}

/// Returns the body of `/rerank`: `[{"index": 1, "score": 0.9}, …]`, the highest score first.
inline std::string ranks_body(const Request& request, const predict::Task& task,
                              std::span<const predict::Prediction> predictions) {
  std::vector<double> scores;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    scores.push_back(tei_scores(request.texts[i], predictions[i], task)[0]);
  }
  json::Writer out;
  out.begin_array();
  for (const std::size_t i : predict::greatest(scores, scores.size())) {
    out.begin_object().member("index", i);
    if (request.returns_texts) out.member("text", *request.texts[i].pair);
    out.member("score", scores[i]).end_object();
  }
  return out.end_array().text();
}

/// Throws a `Refusal` with status 424 if a score is not finite.
inline void check_finite(std::span<const predict::Prediction> predictions) {
  for (const auto& prediction : predictions) {
    for (const double score : prediction.scores) {
      if (!std::isfinite(score)) throw backend("a score is not a finite number");
    }
  }
}

}  // namespace detail

/// Returns the body that answers a request: one prediction per text, in order. Throws a `Refusal`
/// with status 424 if a score is not finite.
[[nodiscard]] inline std::string answer_body(const Request& request, const predict::Task& task,
                                             std::span<const predict::Prediction> predictions) {
  detail::check_finite(predictions);
  if (request.ranks) return detail::ranks_body(request, task, predictions);
  json::Writer out;
  const bool vertex = request.contract == Contract::vertex;
  if (vertex) out.begin_object().key("predictions");
  if (!request.single) out.begin_array();
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    detail::write_answer(out, request.texts[i], predictions[i], task);
  }
  if (!request.single) out.end_array();
  if (vertex) out.end_object();
  return out.text();
}

}  // namespace seqtrain::serve
