#pragma once

#include <algorithm>
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
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/example.hpp>
#include <seqtrain/data/label_key.hpp>

namespace seqtrain::data {

/// Tells whether a label is -1, as Hugging Face's data sets write it, or -1.0, as pandas does.
[[nodiscard]] inline bool is_no_label_id(std::string_view label) {
  return label == no_label_id || (label.starts_with("-1.") && detail::whole_value(label) == -1);
}

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
    for (const auto& name : names_) keys_.push_back(label_key(name));
    numbers_are_ids_ = std::ranges::none_of(
        keys_, [](const std::string& key) { return detail::decimal_number(key).has_value(); });
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
  /// Returns the name of a label. Throws `std::out_of_range` if there is none.
  [[nodiscard]] const std::string& name(std::size_t id) const { return names_.at(id); }

  /// Returns the id of a label as written in a file. An exact match comes first. Then a whole
  /// number is the id itself if no name is a number. Last, the only name with an equal `label_key`
  /// matches: letter case, blanks around the label and the form of a whole number are ignored.
  /// Returns nothing if no name or several names match.
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view text) const {
    if (const auto exact = std::ranges::find(names_, text); exact != names_.end()) {
      return static_cast<std::int32_t>(exact - names_.begin());
    }
    if (const auto number = as_id(text)) {
      if (!is_id(*number)) return {};
      return static_cast<std::int32_t>(*number);
    }
    const auto key = label_key(text);
    const auto first = std::ranges::find(keys_, key);
    if (first == keys_.end() || std::find(first + 1, keys_.end(), key) != keys_.end()) return {};
    return static_cast<std::int32_t>(first - keys_.begin());
  }

  /// Tells whether a label means that an example has no gold label: "-", "-1" or "-1.0", if that is
  /// not one of the labels. Only single-label tasks have such examples.
  [[nodiscard]] bool is_no_label(std::string_view text) const {
    if (problem_type_ != ProblemType::single_label) return false;
    if (soft_ && text == "\"-\"") text = no_label;  // as JSON
    return (text == no_label || is_no_label_id(text)) && !find(text);
  }

  /// Returns an error message for a label that `find` does not know.
  [[nodiscard]] std::string problem_with(std::string_view text) const {
    if (as_id(text)) {
      return "label " + shown(trimmed_label(text)) + " is out of range 0 to " +
             std::to_string(size() - 1);
    }
    return "unknown label '" + shown(text) + "'; known are: " + listed();
  }

  /// Returns the names separated by commas, shortened if there are many.
  [[nodiscard]] std::string listed() const {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, size()); ++i) {
      text += (i > 0 ? ", " : "") + shown(names_[i]);
    }
    return size() > most ? text + ", …" : text;
  }

  bool operator==(const Labels&) const = default;

 private:
  [[nodiscard]] bool is_id(std::int64_t number) const {
    return number >= 0 && number < static_cast<std::int64_t>(size());
  }

  /// Returns the number if a label is a whole one and no name is a number.
  [[nodiscard]] std::optional<std::int64_t> as_id(std::string_view text) const {
    return numbers_are_ids_ ? detail::whole_value(trimmed_label(text)) : std::nullopt;
  }

  std::vector<std::string> names_;
  std::vector<std::string> keys_ = {};  ///< a `label_key` for each name
  ProblemType problem_type_;
  bool soft_ = false;
  bool numbers_are_ids_ = true;  // No name is a number.
};

}  // namespace seqtrain::data
