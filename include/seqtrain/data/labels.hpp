#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/error.hpp>
#include <seqtrain/core/problem_type.hpp>

namespace seqtrain::data {

/// The number that all of `text` is, if it is a whole one.
[[nodiscard]] inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

/// The names of a task's labels, and what the task is; a label's id is its place, counted from 0.
class Labels {
 public:
  /// Throws `InputError` unless there are at least two names, none empty, all different; of
  /// regression there is one.
  explicit Labels(std::vector<std::string> names,
                  ProblemType problem_type = ProblemType::single_label)
      : names_{std::move(names)}, problem_type_{problem_type} {
    const auto demand = [this](bool good, const char* problem) {
      if (!good) throw InputError{problem, {.object = "labels"}, "there are: " + listed()};
    };
    demand(allows_labels(problem_type_, size()), problem_type_ == ProblemType::regression
                                                     ? "regression has one"
                                                     : "at least two labels are needed");
    auto sorted = names_;
    std::ranges::sort(sorted);
    demand(!sorted.front().empty(), "a label has no name");
    demand(std::ranges::adjacent_find(sorted) == sorted.end(), "a label is there twice");
  }

  /// The order of MultiNLI, SNLI and XNLI at Hugging Face.
  static Labels nli() { return Labels{{"entailment", "neutral", "contradiction"}}; }
  /// The order of SST-2 in GLUE.
  static Labels sentiment() { return Labels{{"negative", "positive"}}; }
  /// Regression's one, as transformers calls it.
  static Labels regression() { return Labels{{"LABEL_0"}, ProblemType::regression}; }

  [[nodiscard]] ProblemType problem_type() const { return problem_type_; }
  /// Numbers that an example has in place of the id of its label.
  [[nodiscard]] std::size_t targets() const {
    return problem_type_ == ProblemType::single_label ? 0 : size();
  }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::string& name(std::size_t id) const { return names_.at(id); }

  /// The id of a label as a file has it: a name, else a number, else a name in other letter case.
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view text) const {
    if (const auto exact = std::ranges::find(names_, text); exact != names_.end()) {
      return static_cast<std::int32_t>(exact - names_.begin());
    }
    if (const auto number = whole_number(text)) {
      if (*number < 0 || *number >= static_cast<std::int64_t>(size())) return {};
      return static_cast<std::int32_t>(*number);
    }
    const auto same = [text](const std::string& name) { return equal_but_case(name, text); };
    const auto first = std::ranges::find_if(names_, same);
    if (first == names_.end() || std::find_if(first + 1, names_.end(), same) != names_.end()) {
      return {};
    }
    return static_cast<std::int32_t>(first - names_.begin());
  }

  /// What is wrong with a label that `find` does not know.
  [[nodiscard]] std::string problem_with(std::string_view text) const {
    if (whole_number(text)) {
      return "label " + std::string{text} + " is out of range 0 to " + std::to_string(size() - 1);
    }
    return "unknown label '" + std::string{text} + "'; known are: " + listed();
  }

  /// The names with commas between them, shortened where there are many.
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
  static bool equal_but_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
  }

  std::vector<std::string> names_;
  ProblemType problem_type_;
};

}  // namespace seqtrain::data
