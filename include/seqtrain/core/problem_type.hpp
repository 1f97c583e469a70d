#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/core/lists.hpp>

namespace seqtrain {

/// The kind of task that a model's outputs are for. The first three are values of `problem_type` in
/// a Hugging Face config.json.
enum class ProblemType {
  single_label,       ///< each example has one of several labels
  regression,         ///< each example has a number, or several
  multi_label,        ///< each example has any number of several labels
  language_modeling,  ///< the model predicts each word from the words before it
  loss_alone          ///< the model has a loss and no predictions; examples need no labels
};

namespace detail {

inline constexpr std::array<std::string_view, 5> problem_types{
    "single_label_classification", "regression", "multi_label_classification", "language_modeling",
    "loss_alone"};
inline constexpr std::size_t classifier_types = 3;

}  // namespace detail

/// Tells whether a model of that type predicts labels.
[[nodiscard]] constexpr bool has_labels(ProblemType type) {
  return type == ProblemType::single_label || type == ProblemType::multi_label;
}

/// Returns the type's name in config.json, logs and results.
[[nodiscard]] constexpr std::string_view name(ProblemType type) {
  return detail::problem_types[static_cast<std::size_t>(type)];
}

/// Tells whether a task of that type may have `count` labels. Those of regression are its targets.
[[nodiscard]] constexpr bool allows_labels(ProblemType type, std::size_t count) {
  if (type == ProblemType::loss_alone) return count == 1;
  return count >= (type == ProblemType::regression ? 1 : 2);
}

/// Returns the type of a classifier with that name, or nothing if there is none.
[[nodiscard]] constexpr std::optional<ProblemType> problem_type_named(std::string_view text) {
  for (std::size_t i = 0; i < detail::classifier_types; ++i) {
    if (detail::problem_types[i] == text) return static_cast<ProblemType>(i);
  }
  return {};
}

/// Returns the names of the types of classifiers with commas between them, for errors.
[[nodiscard]] inline std::string listed_problem_types() {
  return joined(std::span{detail::problem_types}.first(detail::classifier_types));
}

}  // namespace seqtrain
