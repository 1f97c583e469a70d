#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/train/selection.hpp>

namespace seqtrain::train {

SEQTRAIN_SEPARATE std::vector<metrics::Figure> named_figures(
    const metrics::ClassificationReport& report) {
  std::vector<metrics::Figure> named;
  if (report.has_loss) named.push_back({.name = "loss", .value = report.loss});
  if (has_labels(report.problem_type)) {
    named.push_back({.name = "accuracy", .value = report.accuracy});
    named.push_back({.name = "macro_f1", .value = report.macro_average().f1});
  }
  if (report.problem_type == ProblemType::multi_label) {
    named.push_back({.name = "micro_f1", .value = metrics::micro_average(report.confusion).f1});
  }
  for (const auto& figure : report.figures) {
    if (std::ranges::count(named, figure.name, &metrics::Figure::name) > 0) continue;
    named.push_back(figure);
  }
  return named;
}

SEQTRAIN_SEPARATE std::string Selection::metric_of(ProblemType type, bool has_loss) const {
  if (!metric.empty()) return metric;
  if (type == ProblemType::single_label) return "accuracy";
  if (type == ProblemType::multi_label) return "micro_f1";
  return has_loss || type != ProblemType::regression ? "loss" : "mean_squared_error";
}

SEQTRAIN_SEPARATE bool Selection::is_greater_better(std::string_view name) const {
  const bool is_cost = name.ends_with("loss") || name == "perplexity" ||
                       name.ends_with("mean_squared_error") ||
                       name.ends_with("mean_absolute_error");
  return greater_is_better.value_or(!is_cost);
}

SEQTRAIN_SEPARATE std::optional<metrics::Figure> Selection::figure(
    const metrics::ClassificationReport& report) const {
  const std::string wanted = metric_of(report.problem_type, report.has_loss);
  for (auto& figure : named_figures(report)) {
    if (figure.name == wanted) return std::move(figure);
  }
  return {};
}

SEQTRAIN_SEPARATE double Selection::score(const metrics::ClassificationReport& report) const {
  const auto found = figure(report);
  if (!found) return std::numeric_limits<double>::quiet_NaN();
  return is_greater_better(found->name) ? found->value : -found->value;
}

SEQTRAIN_SEPARATE std::size_t Selection::best(
    std::span<const metrics::ClassificationReport> dev) const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < dev.size(); ++i) {
    const double highest = score(dev[best]);
    if (score(dev[i]) > highest || (std::isnan(highest) && !std::isnan(score(dev[i])))) best = i;
  }
  return best;
}

SEQTRAIN_SEPARATE void Selection::check(const metrics::ClassificationReport& empty) const {
  std::vector<std::string> names;
  for (const auto& figure : named_figures(empty)) names.push_back(figure.name);
  if (metric.empty() || std::ranges::count(names, metric) > 0) return;
  throw InputError{"there is no metric '" + metric + "'",
                   {.object = "fit", .field = "metric_for_best_model"},
                   "use one of: " + joined(names)};
}

}  // namespace seqtrain::train
