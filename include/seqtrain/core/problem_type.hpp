#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <seqtrain/core/joined.hpp>

namespace seqtrain {

/// What a classifier's outputs stand for: `problem_type` of a Hugging Face config.json.
enum class ProblemType {
  single_label,  ///< each example has one of several labels
  regression,    ///< each example has a number
  multi_label    ///< each example has any number of several labels
};

namespace detail {

inline constexpr std::array<std::string_view, 3> problem_types{
    "single_label_classification", "regression", "multi_label_classification"};

}  // namespace detail

/// As config.json has it.
[[nodiscard]] constexpr std::string_view name(ProblemType type) {
  return detail::problem_types[static_cast<std::size_t>(type)];
}

/// Whether a problem of that type may have so many labels.
[[nodiscard]] constexpr bool allows_labels(ProblemType type, std::size_t count) {
  return type == ProblemType::regression ? count == 1 : count >= 2;
}

/// The type of that name, if it is one.
[[nodiscard]] constexpr std::optional<ProblemType> problem_type_named(std::string_view text) {
  for (std::size_t i = 0; i < detail::problem_types.size(); ++i) {
    if (detail::problem_types[i] == text) return static_cast<ProblemType>(i);
  }
  return {};
}

/// All names, with commas between them, for errors.
[[nodiscard]] inline std::string listed_problem_types() {
  return joined(detail::problem_types);
}

}  // namespace seqtrain
