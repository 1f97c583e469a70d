#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <seqtrain/baseline/scores.hpp>
#include <seqtrain/log/format.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/metric.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/report/table.hpp>

namespace seqtrain::report {

/// Returns rows with the dev figures of a run's model and of the simple models.
inline Rows baseline_rows(const metrics::ClassificationReport& dev,
                          const baseline::Scores& scores) {
  const bool is_number = dev.problem_type == ProblemType::regression;
  const bool has_several = dev.problem_type == ProblemType::multi_label;
  Rows rows{{"on dev", has_several ? "all right" : "accuracy", "macro f1"}};
  if (is_number) rows.front() = {"on dev", "mean_squared_error", "pearson"};
  if (has_several) rows.front().emplace_back("micro f1");
  const auto add = [&](const char* name, const metrics::ClassificationReport& report) {
    if (is_number) {
      const double pearson = metrics::value_of(report.figures, "pearson");  // not of a constant
      rows.push_back({name, log::fixed(metrics::value_of(report.figures, "mean_squared_error"), 4),
                      std::isfinite(pearson) ? log::fixed(pearson, 4) : ""});
      return;
    }
    rows.push_back(
        {name, log::fixed(report.accuracy, 4), log::fixed(report.macro_average().f1, 4)});
    if (has_several) {
      rows.back().push_back(log::fixed(metrics::micro_average(report.confusion).f1, 4));
    }
  };
  add("this model", dev);
  add("TF-IDF + linear", scores.linear);
  add(is_number     ? "mean of the training examples"
      : has_several ? "labels that most examples have"
                    : "most frequent label",
      scores.majority);
  return rows;
}

/// Returns a warning if a simple model is at least as good as the run's model, else "".
inline std::string baseline_warning(const metrics::ClassificationReport& dev,
                                    const baseline::Scores& scores) {
  const auto own = baseline::headline(dev, scores.weighted);
  const auto linear = baseline::headline(scores.linear, scores.weighted);
  const auto majority = baseline::headline(scores.majority, scores.weighted);
  const auto above = [&own](double a, double b) { return own.greater_is_better ? a > b : a < b; };
  const bool is_linear = !above(majority.value, linear.value);
  const double best = is_linear ? linear.value : majority.value;
  if (!std::isfinite(best) || above(own.value, best)) return {};
  const std::string who = is_linear ? "a linear model on TF-IDF"
                          : dev.problem_type == ProblemType::regression
                              ? "the mean of the training examples"
                          : dev.problem_type == ProblemType::multi_label
                              ? "always answering the labels that most examples have"
                              : "always answering the most frequent label";
  const std::string than = std::isnan(own.value)     ? ", and this run's is not a number"
                           : !above(best, own.value) ? ", which is this run's too"
                           : own.greater_is_better
                               ? ", above this run's " + log::fixed(own.value, 4)
                               : ", below this run's " + log::fixed(own.value, 4);
  return who + " has the " + std::string{own.name} + ' ' + log::fixed(best, 4) +
         " on the dev examples" + than +
         (own.greater_is_better && own.value >= 1
              ? "; the simpler model is enough for them"
              : "; train for more --epochs or with other learning rates");
}

}  // namespace seqtrain::report
