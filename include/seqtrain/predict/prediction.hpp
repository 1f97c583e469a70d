#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/text/windows.hpp>

namespace seqtrain::predict {

/// The function that makes a score of the logit of a model with one output, such as a reranker.
enum class OneOutput {
  sigmoid,  ///< the score is between 0 and 1
  identity  ///< the score is the logit
};

/// Tells how to interpret a model's logits.
struct Task {
  std::vector<std::string> labels = {};
  ProblemType problem_type = ProblemType::single_label;
  /// The threshold of each label in multi-label classification: a text has a label if its score is
  /// above it. All are 0.5 if empty.
  std::vector<double> thresholds = {};
  /// The divisor of the logits before they become scores, in single-label classification.
  double temperature = 1;
  OneOutput one_output = OneOutput::sigmoid;  ///< see `relevance`
  /// The name of the way in which a model that embeds texts pools hidden states: `mean` or `cls`.
  /// Its logits are the embedding, and it has no labels. Empty for a classifier.
  std::string pooling = {};
  std::size_t embedding_size = 0;  ///< the numbers of an embedding; 0 for a classifier

  [[nodiscard]] bool embeds() const { return !pooling.empty(); }
};

/// Tells whether a model predicts several numbers for a text.
[[nodiscard]] inline bool has_several_values(const Task& task) {
  return task.problem_type == ProblemType::regression && task.labels.size() > 1;
}

using metrics::label_name;

/// Returns the scores of the labels: the softmax of logits / temperature in single-label
/// classification, the sigmoid of each logit in multi-label classification, the value itself in
/// regression.
[[nodiscard]] inline std::vector<double> scores(std::span<const float> logits, ProblemType type,
                                                double temperature = 1) {
  if (type == ProblemType::regression) return {logits.begin(), logits.end()};
  const Eigen::Map<const Eigen::RowVectorXf> given{logits.data(),
                                                   static_cast<Eigen::Index>(logits.size())};
  const auto row = given.cast<double>().array().eval();
  if (type == ProblemType::multi_label) {
    const auto each = (1 / (1 + (-row).exp())).eval();
    return {each.begin(), each.end()};
  }
  const auto exponents = ((row - row.maxCoeff()) / temperature).exp().eval();
  const auto probabilities = (exponents / exponents.sum()).eval();
  return {probabilities.begin(), probabilities.end()};
}

/// Returns the scores of the labels for a task.
[[nodiscard]] inline std::vector<double> scores(std::span<const float> logits, const Task& task) {
  return scores(logits, task.problem_type, task.temperature);
}

/// Returns the score that text-embeddings-inference and sentence-transformers' CrossEncoder give a
/// text for the logit of a model with one output.
[[nodiscard]] inline double relevance(float logit, const Task& task) {
  return task.one_output == OneOutput::identity ? logit : 1 / (1 + std::exp(-double{logit}));
}

/// A model's prediction for a text.
struct Prediction {
  std::vector<std::size_t> labels = {};  ///< ids of the labels that the text has
  std::vector<double> scores = {};       ///< [labels], see `predict::scores`
  std::vector<float> logits = {};        ///< [labels]
  text::DecidingWindow window = {};      ///< its count is 1 if the text was not read in several
};

/// Returns the ids of the labels that a text has: the label with the greatest logit in single-label
/// classification, any number of labels in multi-label classification, none in regression.
[[nodiscard]] inline std::vector<std::size_t> chosen(std::span<const float> logits,
                                                     const Task& task) {
  std::vector<std::size_t> labels;
  if (task.problem_type == ProblemType::single_label) {
    const Eigen::Map<const Eigen::RowVectorXf> row{logits.data(),
                                                   static_cast<Eigen::Index>(logits.size())};
    labels.push_back(static_cast<std::size_t>(metrics::argmax(row)));
  }
  if (task.problem_type != ProblemType::multi_label) return labels;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double score = task.thresholds.empty() ? 0.5 : task.thresholds[i];
    if (logits[i] > std::log(score / (1 - score))) labels.push_back(i);
  }
  return labels;
}

/// Returns the prediction that a row of logits stands for. An embedding has no labels and no
/// scores.
[[nodiscard]] inline Prediction interpret(std::span<const float> logits, const Task& task,
                                          const text::DecidingWindow& window = {}) {
  if (task.embeds()) return {.logits = {logits.begin(), logits.end()}};
  return {.labels = chosen(logits, task),
          .scores = scores(logits, task),
          .logits = {logits.begin(), logits.end()},
          .window = window};
}

/// Returns the ids of the `count` greatest scores, the greatest first. Equal scores keep the order
/// of their ids.
[[nodiscard]] inline std::vector<std::size_t> greatest(const std::vector<double>& scores,
                                                       std::size_t count) {
  std::vector<std::size_t> ids(scores.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  std::ranges::stable_sort(ids, std::greater{}, [&](std::size_t id) { return scores[id]; });
  ids.resize(std::min(count, ids.size()));
  return ids;
}

/// The parts of an answer that `to_json` writes.
struct JsonOptions {
  std::size_t top_k = 0;  ///< if above 0, only this many labels have scores, the greatest first
  bool logits = true;
  double min_score = 0;  ///< see `abstains`
};

/// Tells whether a text gets no label because its greatest score is below `min_score`. Only
/// single-label classification abstains.
[[nodiscard]] inline bool abstains(const Prediction& prediction, const Task& task,
                                   double min_score) {
  return task.problem_type == ProblemType::single_label && !task.embeds() &&
         prediction.scores[prediction.labels[0]] < min_score;
}

/// Writes the numbers of several targets as an object by their names.
inline void write_values(json::Writer& out, const Prediction& prediction, const Task& task) {
  out.begin_object();
  for (std::size_t k = 0; k < task.labels.size(); ++k) {
    out.member(label_name(task.labels, k), prediction.logits[k]);
  }
  out.end_object();
}

/// Writes the members of an object for a prediction, as `write_json` does.
inline void write_members(json::Writer& out, const Prediction& prediction, const Task& task,
                          const JsonOptions& options) {
  if (task.embeds()) {
    out.member("embedding", prediction.logits);
    return;
  }
  if (has_several_values(task)) {
    out.key("values");
    return write_values(out, prediction, task);
  }
  if (task.problem_type == ProblemType::regression) {
    out.member("value", prediction.logits[0]);
    return;
  }
  if (task.problem_type == ProblemType::multi_label) {
    out.key("labels").begin_array();
    for (const std::size_t id : prediction.labels) out.value(label_name(task.labels, id));
    out.end_array();
  } else if (abstains(prediction, task, options.min_score)) {
    out.key("label").null().member("abstained", true);
  } else {
    out.member("label", label_name(task.labels, prediction.labels[0]));
  }
  out.key("scores").begin_object();
  const std::size_t count = prediction.scores.size();
  for (std::size_t id = 0; id < count && options.top_k == 0; ++id) {
    out.member(label_name(task.labels, id), prediction.scores[id]);
  }
  for (const std::size_t id : greatest(prediction.scores, options.top_k)) {
    out.member(label_name(task.labels, id), prediction.scores[id]);
  }
  out.end_object();
  if (options.logits) out.member("logits", prediction.logits);
  if (const auto& window = prediction.window; window.count > 1) {
    out.key("window").begin_object().member("index", window.index).member("of", window.count);
    out.member("begin", window.begin).member("end", window.end);
    if (window.of_second) out.member("of_second", true);
    out.end_object();
  }
}

/// Writes `{"label": "neutral", "scores": {"entailment": 0.1, …}, "logits": [-1.2, …]}`; in
/// multi-label classification `{"labels": ["sport", "money"], …}`; in regression `{"value": 3.5}`,
/// or with several targets `{"values": {"valence": 3.1, …}}`.
/// A text that gets no label has `"label": null, "abstained": true`. A text that was read in
/// several windows also has `"window": {"index": 2, "of": 5, …}`. An embedding is `{"embedding":
/// […]}`.
inline void write_json(json::Writer& out, const Prediction& prediction, const Task& task,
                       const JsonOptions& options) {
  out.begin_object();
  write_members(out, prediction, task, options);
  out.end_object();
}

/// Returns the text that `write_json` writes. If `top_k` is above 0 it has no logits.
[[nodiscard]] inline std::string to_json(const Prediction& prediction, const Task& task,
                                         std::size_t top_k = 0) {
  json::Writer out;
  write_json(out, prediction, task, {.top_k = top_k, .logits = top_k == 0});
  return out.text();
}

}  // namespace seqtrain::predict
