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
#include <seqtrain/data/labels.hpp>

namespace seqtrain::data {

SEQTRAIN_SEPARATE bool is_no_label_id(std::string_view label) {
  return label == no_label_id || (label.starts_with("-1.") && detail::whole_value(label) == -1);
}

SEQTRAIN_SEPARATE Labels::Labels(std::vector<std::string> names, ProblemType problem_type,
                                 bool soft)
    : names_{std::move(names)}, problem_type_{problem_type}, soft_{soft} {
  const auto demand = [this](bool good, const std::string& problem) {
    if (!good) throw InputError{problem, {.object = "labels"}, "there are: " + listed()};
  };
  const std::string type{seqtrain::name(problem_type_)};
  demand(allows_labels(problem_type_, size()),
         problem_type_ == ProblemType::loss_alone   ? type + " has one"
         : problem_type_ == ProblemType::regression ? "a target is needed"
                                                    : "at least two labels are needed");
  auto sorted = names_;
  std::ranges::sort(sorted);
  demand(!sorted.front().empty(), "a label is empty");
  demand(std::ranges::adjacent_find(sorted) == sorted.end(), "a label is repeated");
  for (const auto& name : names_) keys_.push_back(label_key(name));
  numbers_are_ids_ = std::ranges::none_of(
      keys_, [](const std::string& key) { return detail::decimal_number(key).has_value(); });
}

SEQTRAIN_SEPARATE std::optional<std::int32_t> Labels::find(std::string_view text) const {
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

SEQTRAIN_SEPARATE bool Labels::is_no_label(std::string_view text) const {
  if (problem_type_ != ProblemType::single_label) return false;
  if (soft_ && text == "\"-\"") text = no_label;  // as JSON
  return (text == no_label || is_no_label_id(text)) && !find(text);
}

SEQTRAIN_SEPARATE std::string Labels::problem_with(std::string_view text) const {
  if (as_id(text)) {
    return "label " + shown(trimmed_label(text)) + " is out of range 0 to " +
           std::to_string(size() - 1);
  }
  return "unknown label '" + shown(text) + "'; known are: " + listed();
}

SEQTRAIN_SEPARATE std::string Labels::listed() const {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, size()); ++i) {
    text += (i > 0 ? ", " : "") + shown(names_[i]);
  }
  return size() > most ? text + ", …" : text;
}

SEQTRAIN_SEPARATE std::optional<std::int64_t> Labels::as_id(std::string_view text) const {
  return numbers_are_ids_ ? detail::whole_value(trimmed_label(text)) : std::nullopt;
}

}  // namespace seqtrain::data
