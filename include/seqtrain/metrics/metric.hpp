#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/metrics/logits.hpp>

namespace seqtrain::metrics {

/// A figure that a user adds to an evaluation. `add` takes a batch's logits [rows, labels] and
/// labels [rows], -1 for a row without a label. `merge` adds all that another object has taken.
/// `value` returns the figure. `name` is its name in reports. A copy counts separately.
template <class T>
concept Metric = std::copyable<T> && requires(T& metric, const T& other, const Logits& logits,
                                              std::span<const std::int64_t> labels) {
  metric.add(logits, labels);
  metric.merge(other);
  { other.value() } -> std::convertible_to<double>;
  { other.name } -> std::convertible_to<std::string_view>;
};

/// The value of a metric with its name.
struct Figure {
  std::string name;
  double value = 0;
};

/// Returns a metric's name and value.
template <Metric T>
Figure figure(const T& metric) {
  return {.name = std::string{std::string_view{metric.name}}, .value = metric.value()};
}

}  // namespace seqtrain::metrics
