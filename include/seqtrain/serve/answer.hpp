#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/serve/request.hpp>

namespace seqtrain::serve {

/// What a model says about one text.
struct Opinion {
  std::vector<float> logits = {};
  std::vector<double> scores = {};  ///< softmax, sigmoids, or the value itself
};

/// The names that answers of a model use.
struct Labels {
  std::vector<std::string> names = {};
  ProblemType type = ProblemType::single_label;
  std::vector<double> thresholds = {};  ///< for each label, of multi-label models

  [[nodiscard]] std::string name(std::size_t label) const {
    return label < names.size() ? names[label] : "LABEL_" + std::to_string(label);
  }

  /// Returns the labels that the text has: the best one, or all above their thresholds.
  [[nodiscard]] std::vector<std::size_t> chosen(std::span<const double> scores) const {
    if (type != ProblemType::multi_label) {
      return {static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin())};
    }
    std::vector<std::size_t> labels;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] > (i < thresholds.size() ? thresholds[i] : 0.5)) labels.push_back(i);
    }
    return labels;
  }
};

namespace detail {

/// Writes the answer to one text.
class AnswerWriter {
 public:
  AnswerWriter(json::Writer& out, const Labels& labels) : out_{out}, labels_{labels} {}

  void write(const Text& text, const Opinion& opinion) {
    if (text.form == Form::ranked) return ranked(values(text, opinion));
    if (text.form == Form::categories) return categories(opinion);
    if (text.form == Form::label) return label(opinion);
    object(text, opinion);
  }

 private:
  static std::vector<double> values(const Text& text, const Opinion& opinion) {
    if (!text.raw_scores) return opinion.scores;
    return {opinion.logits.begin(), opinion.logits.end()};
  }

  void ranked(const std::vector<double>& scores) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return scores[i]; });
    out_.begin_array();
    for (const std::size_t i : order) {
      out_.begin_object().member("score", scores[i]).member("label", labels_.name(i)).end_object();
    }
    out_.end_array();
  }

  void categories(const Opinion& opinion) {
    std::string names;
    if (labels_.type == ProblemType::regression) {
      json::Writer number;
      names = number.value(opinion.scores[0]).text();
    } else {
      for (const std::size_t i : labels_.chosen(opinion.scores)) {
        names += (names.empty() ? "" : ";") + labels_.name(i);
      }
    }
    out_.begin_object().member("Categories", names).key("Tensor").begin_array();
    for (const double score : opinion.scores) out_.value(score);
    out_.end_array().end_object();
  }

  /// Writes the label, a list of the labels, or the value.
  void label(const Opinion& opinion) {
    if (labels_.type == ProblemType::regression) {
      out_.value(opinion.scores[0]);
      return;
    }
    const bool many = labels_.type == ProblemType::multi_label;
    if (many) out_.begin_array();
    for (const std::size_t i : labels_.chosen(opinion.scores)) out_.value(labels_.name(i));
    if (many) out_.end_array();
  }

  void object(const Text& text, const Opinion& opinion) {
    out_.begin_object();
    if (labels_.type == ProblemType::regression) {
      out_.key("value");
      label(opinion);
    } else {
      out_.key(labels_.type == ProblemType::multi_label ? "labels" : "label");
      label(opinion);
      out_.key("scores").begin_object();
      for (std::size_t i = 0; i < opinion.scores.size(); ++i) {
        out_.member(labels_.name(i), opinion.scores[i]);
      }
      out_.end_object();
    }
    if (text.raw_scores) {
      out_.key("logits").begin_array();
      for (const float logit : opinion.logits) out_.value(logit);
      out_.end_array();
    }
    out_.end_object();
  }

  json::Writer& out_;
  const Labels& labels_;
};

}  // namespace detail

/// Returns the body that answers a request: an opinion for each text, in order. Throws a `Refusal`
/// with status 424 if a score is not a number.
[[nodiscard]] inline std::string answer_body(const Request& request, const Labels& labels,
                                             std::span<const Opinion> opinions) {
  json::Writer out;
  detail::AnswerWriter answer{out, labels};
  const bool vertex = request.contract == Contract::vertex;
  if (vertex) out.begin_object().key("predictions");
  if (!request.single) out.begin_array();
  for (std::size_t i = 0; i < opinions.size(); ++i) {
    for (const double score : opinions[i].scores) {
      if (!std::isfinite(score)) throw backend("a score is not a finite number");
    }
    answer.write(request.texts[i], opinions[i]);
  }
  if (!request.single) out.end_array();
  if (vertex) out.end_object();
  return out.text();
}

}  // namespace seqtrain::serve
