#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/metrics/logits.hpp>

namespace seqtrain::metrics {

/// A metric of examples with one label. `add` takes a batch's logits [rows, labels] and labels
/// [rows], -1 for a row without a label.
template <class T>
concept CountsLabels = requires(T& metric, const Logits& logits,
                                std::span<const std::int64_t> labels) {
  metric.add(logits, labels);
};

/// A metric of examples with numbers, as in regression and multi-label classification. `add` takes
/// a batch's logits [rows, labels] and targets [rows, labels], NaN for a row without any.
template <class T>
concept CountsTargets = requires(T& metric, const Logits& logits, std::span<const float> targets) {
  metric.add(logits, targets);
};

/// A figure that a user adds to an evaluation. `add` takes labels, targets or, in two overloads,
/// both. `merge` adds all that another object has taken. `value` returns the figure. `name` is its
/// name in reports. A copy counts separately.
template <class T>
concept Metric = std::copyable<T> &&
    (CountsLabels<T> || CountsTargets<T>)&&requires(T& metric, const T& other) {
  metric.merge(other);
  { other.value() } -> std::convertible_to<double>;
  { other.name } -> std::convertible_to<std::string_view>;
};

/// A metric that tells for which problem types it is computed. Evaluations of the other types leave
/// it out.
template <class T>
concept ChoosesProblemTypes = Metric<T> && requires(const T& metric, ProblemType type) {
  { metric.counts(type) } -> std::same_as<bool>;
};

/// The value of a metric with its name.
struct Figure {
  std::string name;
  double value = 0;
};

/// Returns the value of the figure with this name, or NaN if there is none.
[[nodiscard]] inline double value_of(std::span<const Figure> figures, std::string_view name) {
  const auto found = std::ranges::find(figures, name, &Figure::name);
  return found == figures.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

/// Returns a metric's name and value.
template <Metric T>
Figure figure(const T& metric) {
  return {.name = std::string{std::string_view{metric.name}}, .value = metric.value()};
}

/// Adds a batch to a metric that is counted for the problem type: its labels or its targets.
template <Metric T>
void count(T& metric, ProblemType type, const Logits& logits, std::span<const std::int64_t> labels,
           std::span<const float> targets) {
  if constexpr (CountsLabels<T>) {
    if (type == ProblemType::single_label) return metric.add(logits, labels);
  }
  if constexpr (CountsTargets<T>) {
    if (type != ProblemType::single_label) metric.add(logits, targets);
  }
}

/// Tells whether an evaluation of that problem type computes the metric. Throws `InputError` if the
/// metric does not leave the problem type out, but cannot count its examples.
template <Metric T>
bool is_counted(const T& metric, ProblemType type) {
  if constexpr (ChoosesProblemTypes<T>) {
    if (!metric.counts(type)) return false;
  }
  const bool by_label = type == ProblemType::single_label;
  if (by_label ? CountsLabels<T> : CountsTargets<T>) return true;
  throw InputError{
      by_label ? "counts targets, but the model's examples have labels"
               : "counts labels, but the model's examples have targets",
      {.object = "metric '" + std::string{std::string_view{metric.name}} + "'"},
      by_label ? "give it an add(logits, std::span<const std::int64_t> labels), or leave it out"
               : "give it an add(logits, std::span<const float> targets), or leave it out"};
}

}  // namespace seqtrain::metrics
