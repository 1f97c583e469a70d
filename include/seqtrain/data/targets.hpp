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
#include <vector>

#include <simdjson.h>

#include <seqtrain/core/lists.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/labels.hpp>

namespace seqtrain::data {

/// Returns the number if all of `text` is a number that fits a float.
[[nodiscard]] inline std::optional<float> finite_number(std::string_view text) {
  const auto number = parse_number<double>(text);
  const bool fits = number && std::isfinite(static_cast<float>(*number));
  return fits ? std::optional{static_cast<float>(*number)} : std::nullopt;
}

/// Tells whether a value is a span of a text, [begin, end, label], as doccano and other tools for
/// marking passages write it.
[[nodiscard]] inline bool is_span(simdjson::dom::element value) {
  simdjson::dom::array parts;
  std::int64_t offset = 0;
  std::string_view label;
  return value.get(parts) == simdjson::SUCCESS && parts.size() == 3 &&
         parts.at(0).get(offset) == simdjson::SUCCESS &&
         parts.at(1).get(offset) == simdjson::SUCCESS &&
         parts.at(2).get(label) == simdjson::SUCCESS;
}

/// The problem of a label that marks spans of the text.
inline constexpr const char* spans_are_no_label =
    "holds spans of the text, [begin, end, label], not a label of the text";

/// The advice for several labels that cannot be read.
inline constexpr const char* expected_label_array =
    "a label is a JSON array of names, or of a 0 or a 1 for each label, or names with commas "
    "between them";

/// Reads labels of multi-label classification. Each is a JSON array that holds either names of
/// labels, or a 0 or a 1 for every label; or it is names or ids with commas between them: `4,27`.
class LabelArray {
 public:
  /// Parses `text`. Returns false if it has another form. The result is valid until the next call
  /// and as long as `text` is.
  bool parse(std::string_view text) {
    names_.clear();
    numbers_.clear();
    problem_ = expected_label_array;
    simdjson::dom::element value;
    const bool is_json = parser_.parse(text.data(), text.size()).get(value) == simdjson::SUCCESS;
    simdjson::dom::array items;
    if (!is_json || value.get(items) != simdjson::SUCCESS) {
      if (is_json && value.type() == simdjson::dom::element_type::DOUBLE) return false;
      if (is_json && value.is_string()) text = value;
      return !text.starts_with('[') && !text.starts_with('{') && add_list(text);
    }
    for (const simdjson::dom::element item : items) {
      if (add(item)) continue;
      if (is_span(item)) problem_ = spans_are_no_label;
      return false;
    }
    return names_.empty() || numbers_.empty();
  }

  [[nodiscard]] std::span<const std::string_view> names() const { return names_; }
  [[nodiscard]] std::span<const float> numbers() const { return numbers_; }
  /// Returns an error message for a text of another form.
  [[nodiscard]] std::string problem() const { return problem_; }

 private:
  /// Adds names with commas between them, without the blanks around them.
  bool add_list(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    for (std::string_view name : split(text, ',')) {
      name.remove_prefix(std::min(name.find_first_not_of(blanks), name.size()));
      name = name.substr(0, name.find_last_not_of(blanks) + 1);  // npos + 1 is 0
      if (name.empty()) return false;
      names_.push_back(name);
    }
    return true;
  }

  bool add(simdjson::dom::element item) {
    if (std::string_view name; item.get(name) == simdjson::SUCCESS) {
      names_.push_back(name);
      return true;
    }
    double number = -1;
    if (item.get(number) != simdjson::SUCCESS || (number != 0 && number != 1)) return false;
    numbers_.push_back(static_cast<float>(number));
    return true;
  }

  simdjson::dom::parser parser_;
  std::vector<std::string_view> names_;
  std::vector<float> numbers_;
  const char* problem_ = expected_label_array;
};

/// The advice for a soft label that cannot be read.
inline constexpr const char* expected_distribution =
    "a soft label is a JSON array or object of probabilities whose sum is 1, or a label";

/// Turns labels into targets for regression (the number itself, or a number for each target),
/// multi-label classification (a 0 or 1 for each label) and soft labels (a probability for each
/// label).
class Targets {
 public:
  /// Returns the targets of an example without a label, which are NaN.
  static std::vector<float> none(const Labels& labels) {
    return std::vector<float>(labels.targets(), std::numeric_limits<float>::quiet_NaN());
  }

  /// Reads a label. Returns an error message, or "" if there is none.
  std::string parse(std::string_view text, const Labels& labels) {
    if (labels.problem_type() == ProblemType::regression) {
      return labels.size() == 1 ? parse_number(text) : parse_numbers(text, labels);
    }
    return labels.soft() ? parse_distribution(text, labels) : parse_array(text, labels);
  }

  /// Returns the targets of the last label, [labels.targets()].
  [[nodiscard]] std::span<const float> numbers() const { return numbers_; }

 private:
  std::string parse_number(std::string_view text) {
    const auto number = finite_number(text);
    if (!number) {
      return "'" + shown(text) + "' is not a finite number" +
             (text.starts_with('[') || text.starts_with('{')
                  ? "; --labels a,b names the targets of a model of several"
                  : "");
    }
    numbers_.assign(1, *number);
    return {};
  }

  /// Reads a JSON array of a number for each target, or a JSON object of numbers by names.
  std::string parse_numbers(std::string_view text, const Labels& labels) {
    simdjson::dom::element value;
    simdjson::dom::array items;
    simdjson::dom::object members;
    const bool is_json = parser_.parse(text.data(), text.size()).get(value) == simdjson::SUCCESS;
    numbers_.assign(labels.size(), std::numeric_limits<float>::quiet_NaN());
    std::size_t count = 0;
    if (is_json && value.get(items) == simdjson::SUCCESS) {
      for (const simdjson::dom::element item : items) {
        if (count++ >= labels.size()) continue;
        const auto problem = set_number(count - 1, item, labels);
        if (!problem.empty()) return problem;
      }
    } else if (is_json && value.get(members) == simdjson::SUCCESS) {
      for (const auto& [name, item] : members) {
        const auto known = labels.find(name);
        if (!known) return labels.problem_with(name);
        ++count;
        const auto problem = set_number(static_cast<std::size_t>(*known), item, labels);
        if (!problem.empty()) return problem;
      }
    } else {
      return "'" + shown(text) + "' is not a JSON array of numbers for " + labels.listed();
    }
    const bool is_whole = std::ranges::none_of(numbers_, [](float x) { return std::isnan(x); });
    if (is_whole && count == labels.size()) return {};
    return std::to_string(count) + " numbers for " + std::to_string(labels.size()) +
           " targets: " + labels.listed();
  }

  std::string set_number(std::size_t target, simdjson::dom::element item, const Labels& labels) {
    const std::string of = " of '" + labels.name(target) + "'";
    if (item.is_null()) return "the number" + of + " is missing";
    double number = 0;
    const bool is_finite =
        item.get(number) == simdjson::SUCCESS && std::isfinite(static_cast<float>(number));
    if (!is_finite) return "the value" + of + " is not a finite number";
    numbers_[target] = static_cast<float>(number);
    return {};
  }

  /// Reads a JSON array of a probability for each label, a JSON object of probabilities by names,
  /// or one label, which is certain.
  std::string parse_distribution(std::string_view text, const Labels& labels) {
    simdjson::dom::element value;
    simdjson::dom::array items;
    simdjson::dom::object members;
    const bool is_json = parser_.parse(text.data(), text.size()).get(value) == simdjson::SUCCESS;
    numbers_.assign(labels.size(), 0);
    double sum = 0;
    std::string problem;
    const auto set = [&](std::size_t label, simdjson::dom::element item) {
      double number = -1;
      const bool is_number = item.get(number) == simdjson::SUCCESS && number >= 0 && number < 2;
      const bool is_new = label >= labels.size() || numbers_[label] == 0;
      if (!is_number || !is_new) problem = expected_distribution;
      if (label >= labels.size() || !is_number) return;
      numbers_[label] = static_cast<float>(number);
      sum += number;
    };
    if (is_json && value.get(items) == simdjson::SUCCESS) {
      std::size_t label = 0;
      for (const simdjson::dom::element item : items) set(label++, item);
      if (problem.empty() && label != labels.size()) {
        problem = std::to_string(label) + " probabilities for " + std::to_string(labels.size()) +
                  " labels";
      }
    } else if (is_json && value.get(members) == simdjson::SUCCESS) {
      for (const auto& [name, item] : members) {
        const auto known = labels.find(name);
        if (!known) return labels.problem_with(name);
        set(static_cast<std::size_t>(*known), item);
      }
    } else {
      if (is_json && value.is_string()) text = value;
      const auto known = labels.find(text);
      if (!known) return labels.problem_with(text) + ", and " + expected_distribution;
      numbers_[static_cast<std::size_t>(*known)] = 1;
      sum = 1;
    }
    return problem.empty() && std::abs(sum - 1) > 1e-3 ? expected_distribution : problem;
  }

  std::string parse_array(std::string_view text, const Labels& labels) {
    if (!array_.parse(text)) return array_.problem();
    numbers_.assign(labels.size(), 0);
    for (const std::string_view name : array_.names()) {
      const auto known = labels.find(name);
      if (!known) return labels.problem_with(name);
      numbers_[static_cast<std::size_t>(*known)] = 1;
    }
    const auto numbers = array_.numbers();
    if (numbers.empty()) return {};
    if (numbers.size() != labels.size()) {
      return std::to_string(numbers.size()) + " numbers for " + std::to_string(labels.size()) +
             " labels";
    }
    std::ranges::copy(numbers, numbers_.begin());
    return {};
  }

  LabelArray array_;
  simdjson::dom::parser parser_;
  std::vector<float> numbers_;
};

}  // namespace seqtrain::data
