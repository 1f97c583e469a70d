#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/core/error.hpp>
#include <seqtrain/core/lists.hpp>
#include <seqtrain/metrics/classification.hpp>
#include <seqtrain/metrics/multi_label.hpp>
#include <seqtrain/weights/tensor_view.hpp>

namespace seqtrain::train {

/// Returns the figures of a report by name: the loss; accuracy and macro_f1 if there are labels;
/// micro_f1 if an example may have several; and those in `figures`.
inline std::vector<metrics::Figure> named_figures(const metrics::ClassificationReport& report) {
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

/// Decides which of several evaluations is the best.
struct Selection {
  /// The name of a figure. Empty means accuracy if an example has one label, micro_f1 if it may
  /// have several, and the loss otherwise.
  std::string metric = {};
  /// Tells whether a larger value is better. By default it is, unless the name ends in "loss" or is
  /// "perplexity" or "mean_squared_error".
  std::optional<bool> greater_is_better = {};

  /// Returns the name of the figure that decides with this problem type. Without a loss the squared
  /// error decides for regression.
  [[nodiscard]] std::string metric_of(ProblemType type, bool has_loss = true) const {
    if (!metric.empty()) return metric;
    if (type == ProblemType::single_label) return "accuracy";
    if (type == ProblemType::multi_label) return "micro_f1";
    return has_loss ? "loss" : "mean_squared_error";
  }

  /// Tells whether a larger value of the figure is better.
  [[nodiscard]] bool is_greater_better(std::string_view name) const {
    const bool is_cost =
        name.ends_with("loss") || name == "perplexity" || name == "mean_squared_error";
    return greater_is_better.value_or(!is_cost);
  }

  /// Returns the figure that `metric` names, or nothing if the report lacks it.
  [[nodiscard]] std::optional<metrics::Figure> figure(
      const metrics::ClassificationReport& report) const {
    const std::string wanted = metric_of(report.problem_type, report.has_loss);
    for (auto& figure : named_figures(report)) {
      if (figure.name == wanted) return std::move(figure);
    }
    return {};
  }

  /// Returns a number that is larger for a better evaluation, or NaN if the report lacks the
  /// figure.
  [[nodiscard]] double score(const metrics::ClassificationReport& report) const {
    const auto found = figure(report);
    if (!found) return std::numeric_limits<double>::quiet_NaN();
    return is_greater_better(found->name) ? found->value : -found->value;
  }

  /// Returns the index of the best evaluation, the first if several are equal. NaN is worse than
  /// any number. `dev` must not be empty.
  [[nodiscard]] std::size_t best(std::span<const metrics::ClassificationReport> dev) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < dev.size(); ++i) {
      const double highest = score(dev[best]);
      if (score(dev[i]) > highest || (std::isnan(highest) && !std::isnan(score(dev[i])))) best = i;
    }
    return best;
  }

  /// Tells whether none of the last `patience` evaluations was better than the best one before
  /// them. Returns false if `patience` is 0.
  [[nodiscard]] bool out_of_patience(std::span<const metrics::ClassificationReport> dev,
                                     std::int64_t patience) const {
    if (patience == 0 || dev.empty()) return false;
    return dev.size() - 1 - best(dev) >= static_cast<std::size_t>(patience);
  }

  /// Throws `InputError` unless `empty`, a report without examples, has a figure of that name.
  void check(const metrics::ClassificationReport& empty) const {
    std::vector<std::string> names;
    for (const auto& figure : named_figures(empty)) names.push_back(figure.name);
    if (metric.empty() || std::ranges::count(names, metric) > 0) return;
    throw InputError{"there is no metric '" + metric + "'",
                     {.object = "fit", .field = "metric_for_best_model"},
                     "use one of: " + joined(names)};
  }
};

/// An argument of `Trainer::fit` that makes the model end with the parameters of its best epoch on
/// the dev set. The model must be `Restorable`. Checkpoints hold these parameters too.
class BestModel {
 public:
  /// Creates an argument that does nothing unless `enabled` is true, so that a flag can decide.
  explicit BestModel(bool enabled = true) : enabled_{enabled} {}

  [[nodiscard]] bool enabled() const { return enabled_; }

  /// Copies the model's parameters if the last evaluation in `dev` is the best one.
  template <Restorable M>
  void offer(const M& model, std::span<const metrics::ClassificationReport> dev,
             const Selection& selection) {
    if (!enabled_ || dev.empty() || selection.best(dev) + 1 != dev.size()) return;
    copies_.assign(model.state_dict().views());
  }

  /// Takes the best parameters so far from a checkpoint.
  void restore(std::span<const weights::TensorView> tensors) { copies_.assign(tensors); }

  /// Loads the best parameters into the model, if there are any.
  template <Restorable M>
  void apply(M& model) const {
    if (!copies_.empty()) model.load_state_dict(copies_.views());
  }

  /// Returns the best parameters so far, or none before the first evaluation.
  [[nodiscard]] std::span<const weights::TensorView> views() const { return copies_.views(); }

  /// Forgets the parameters of an earlier fit.
  void clear() { copies_ = {}; }

 private:
  bool enabled_;
  weights::TensorCopies copies_;
};

}  // namespace seqtrain::train
