#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/text_similarity.hpp>
#include <seqtrain/data/example.hpp>

namespace seqtrain::data {

namespace detail {

/// Returns the number if all of `text` is a finite number: 1, -2.5, 1e3.
inline std::optional<double> decimal_number(std::string_view text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Returns the number if the value of `text` is an integer: 1 for 1, 01 and 1.0.
inline std::optional<std::int64_t> whole_value(std::string_view text) {
  if (const auto number = parse_number<std::int64_t>(text)) return number;
  const auto number = decimal_number(text);
  if (!number || std::trunc(*number) != *number || std::abs(*number) > 1e15) return {};
  return static_cast<std::int64_t>(*number);
}

}  // namespace detail

/// The names of a task's labels and its problem type. The id of a label is its index.
class Labels {
 public:
  /// Throws `InputError` unless there are at least two names (exactly one for regression), none is
  /// empty and all are different.
  explicit Labels(std::vector<std::string> names,
                  ProblemType problem_type = ProblemType::single_label, bool soft = false)
      : names_{std::move(names)}, problem_type_{problem_type}, soft_{soft} {
    const auto demand = [this](bool good, const char* problem) {
      if (!good) throw InputError{problem, {.object = "labels"}, "there are: " + listed()};
    };
    demand(allows_labels(problem_type_, size()), problem_type_ == ProblemType::regression
                                                     ? "regression has one"
                                                     : "at least two labels are needed");
    auto sorted = names_;
    std::ranges::sort(sorted);
    demand(!sorted.front().empty(), "a label is empty");
    demand(std::ranges::adjacent_find(sorted) == sorted.end(), "a label is repeated");
    numbers_are_ids_ = std::ranges::none_of(
        names_, [](const std::string& name) { return detail::decimal_number(name).has_value(); });
  }

  /// Returns the labels of MultiNLI, SNLI and XNLI in Hugging Face's order.
  static Labels nli() { return Labels{{"entailment", "neutral", "contradiction"}}; }
  /// Returns the labels of SST-2 in GLUE's order.
  static Labels sentiment() { return Labels{{"negative", "positive"}}; }
  /// Returns the one label of regression, named as in transformers.
  static Labels regression() { return Labels{{"LABEL_0"}, ProblemType::regression}; }

  [[nodiscard]] ProblemType problem_type() const { return problem_type_; }
  /// Tells whether an example has a probability of each label instead of one label.
  [[nodiscard]] bool soft() const { return soft_; }
  /// Returns the number of targets of an example that has numbers instead of a label id.
  [[nodiscard]] std::size_t targets() const {
    return problem_type_ == ProblemType::single_label && !soft_ ? 0 : size();
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::string& name(std::size_t id) const { return names_.at(id); }

  /// Returns the id of a label as written in a file. An exact match comes first. Then a number
  /// matches the name with an equal whole value, or is the id itself if no name is a number. Last,
  /// letter case is ignored. Returns nothing if no name or several names match.
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view text) const {
    if (const auto exact = std::ranges::find(names_, text); exact != names_.end()) {
      return id_of(exact);
    }
    if (const auto number = numbers_are_ids_ ? parse_number<std::int64_t>(text) : std::nullopt) {
      if (!is_id(*number)) return {};
      return static_cast<std::int32_t>(*number);
    }
    if (const auto value = detail::whole_value(text)) {
      return only([value](const auto& name) { return detail::whole_value(name) == value; });
    }
    return only([text](const auto& name) { return equal_but_case(name, text); });
  }

  /// Tells whether a label means that an example has no gold label: "-" or "-1", if that is not one
  /// of the labels. Only single-label tasks have such examples.
  [[nodiscard]] bool is_no_label(std::string_view text) const {
    if (problem_type_ != ProblemType::single_label) return false;
    if (soft_ && text == "\"-\"") text = no_label;  // as JSON
    return (text == no_label || text == no_label_id) && !find(text);
  }

  /// Returns an error message for a label that `find` does not know.
  [[nodiscard]] std::string problem_with(std::string_view text) const {
    if (numbers_are_ids_ && parse_number<std::int64_t>(text)) {
      return "label " + std::string{text} + " is out of range 0 to " + std::to_string(size() - 1);
    }
    return "unknown label '" + std::string{text} + "'; known are: " + listed();
  }

  /// Returns the names separated by commas, shortened if there are many.
  [[nodiscard]] std::string listed() const {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, size()); ++i) {
      text += (i > 0 ? ", " : "") + names_[i];
    }
    return size() > most ? text + ", …" : text;
  }

  bool operator==(const Labels&) const = default;

 private:
  [[nodiscard]] bool is_id(std::int64_t number) const {
    return number >= 0 && number < static_cast<std::int64_t>(size());
  }

  [[nodiscard]] std::int32_t id_of(std::vector<std::string>::const_iterator name) const {
    return static_cast<std::int32_t>(name - names_.begin());
  }

  /// Returns the id of the only name that fits. Returns nothing if none or several do.
  template <class Fits>
  [[nodiscard]] std::optional<std::int32_t> only(const Fits& fits) const {
    const auto first = std::ranges::find_if(names_, fits);
    if (first == names_.end() || std::find_if(first + 1, names_.end(), fits) != names_.end()) {
      return {};
    }
    return id_of(first);
  }

  std::vector<std::string> names_;
  ProblemType problem_type_;
  bool soft_ = false;
  bool numbers_are_ids_ = true;  // No name is a number.
};

}  // namespace seqtrain::data
