#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <seqtrain/core/json_writer.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/metrics/multi_label.hpp>

namespace seqtrain::baseline {

/// The figures of simple models on the dev examples of a run, to compare its model with.
struct Scores {
  metrics::ClassificationReport majority;  ///< judges the answer that fits most training examples
  metrics::ClassificationReport linear;    ///< judges a linear model on TF-IDF
  std::size_t examples = 0;                ///< training examples that the linear model has read
  std::size_t terms = 0;                   ///< the terms of the linear model
  double seconds = 0;                      ///< time that both took
  bool weighted = false;                   ///< true if the training examples had class weights
};

/// The figure by which a run's model is compared with simple ones.
struct Headline {
  std::string_view name;
  double value;
  bool greater_is_better = true;
};

/// Returns the figure to compare by: the squared error for regression, the micro F1 for several
/// labels, otherwise the accuracy, or the macro F1 if classes have weights.
[[nodiscard]] inline Headline headline(const metrics::ClassificationReport& report, bool weighted) {
  if (report.problem_type == ProblemType::regression) {
    return {"mean squared error", metrics::value_of(report.figures, "mean_squared_error"), false};
  }
  if (report.problem_type == ProblemType::multi_label) {
    return {"micro F1", metrics::micro_average(report.confusion).f1};
  }
  if (weighted) return {"macro F1", report.macro_average().f1};
  return {"accuracy", report.accuracy};
}

/// Appends the member `baseline` of metrics.json.
inline void append(json::Writer& out, const Scores& scores) {
  const auto add = [&out](std::string_view name, const metrics::ClassificationReport& report) {
    out.key(name).begin_object();
    if (has_labels(report.problem_type)) {
      out.member("accuracy", report.accuracy).member("macro_f1", report.macro_average().f1);
    }
    if (report.problem_type == ProblemType::multi_label) {
      out.member("micro_f1", metrics::micro_average(report.confusion).f1);
    }
    if (report.problem_type == ProblemType::regression) {
      for (const auto& [figure, value] : report.figures) out.member(figure, value);
    }
    out.end_object();
  };
  out.key("baseline").begin_object();
  add(scores.majority.problem_type == ProblemType::regression ? "mean" : "majority",
      scores.majority);
  add("linear", scores.linear);
  out.member("examples", static_cast<std::int64_t>(scores.examples))
      .member("terms", static_cast<std::int64_t>(scores.terms))
      .member("seconds", scores.seconds)
      .end_object();
}

}  // namespace seqtrain::baseline
