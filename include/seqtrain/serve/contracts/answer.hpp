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

/// Writes the prediction for one text in the form that the request asks for.
class AnswerWriter {
 public:
  AnswerWriter(json::Writer& out, const predict::Task& task) : out_{out}, task_{task} {}

  void write(const Text& text, const predict::Prediction& prediction) {
    switch (text.form) {
      case Form::ranked:
        return ranked(tei_scores(text, prediction, task_));
      case Form::categories:
        return categories(prediction);
      case Form::label:
        return label(prediction);
      case Form::object:
        return predict::write_json(out_, prediction, task_, {.logits = text.raw_scores});
    }
  }

 private:
  void ranked(const std::vector<double>& scores) {
    out_.begin_array();
    for (const std::size_t i : predict::greatest(scores, scores.size())) {
      out_.begin_object().member("score", scores[i]).member("label", name(i)).end_object();
    }
    out_.end_array();
  }

  void categories(const predict::Prediction& prediction) {
    std::string names;
    for (const std::size_t i : prediction.labels) names += (names.empty() ? "" : ";") + name(i);
    if (task_.problem_type == ProblemType::regression) {
      json::Writer number;
      names = number.value(prediction.logits[0]).text();
    }
    out_.begin_object().member("Categories", names).key("Tensor").begin_array();
    for (const double score : prediction.scores) out_.value(score);
    out_.end_array().end_object();
  }

  /// Writes the label, a list of the labels, or the value.
  void label(const predict::Prediction& prediction) {
    if (task_.problem_type == ProblemType::regression) {
      out_.value(prediction.logits[0]);
      return;
    }
    const bool many = task_.problem_type == ProblemType::multi_label;
    if (many) out_.begin_array();
    for (const std::size_t i : prediction.labels) out_.value(name(i));
    if (many) out_.end_array();
  }

  [[nodiscard]] std::string name(std::size_t label) const {
    return predict::label_name(task_, label);
  }

  json::Writer& out_;
  const predict::Task& task_;
};

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
  detail::AnswerWriter answer{out, task};
  const bool vertex = request.contract == Contract::vertex;
  if (vertex) out.begin_object().key("predictions");
  if (!request.single) out.begin_array();
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    answer.write(request.texts[i], predictions[i]);
  }
  if (!request.single) out.end_array();
  if (vertex) out.end_object();
  return out.text();
}

}  // namespace seqtrain::serve
