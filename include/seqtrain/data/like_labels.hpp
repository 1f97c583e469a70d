#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/data/label_key.hpp>
#include <seqtrain/data/label_spelling.hpp>

namespace seqtrain::data {

/// Returns the labels that have the same `label_key` as another one, in groups. The most frequent
/// label of a group is its first; of equally frequent ones it is the shortest, then the one that
/// begins in lower case. `examples` are the numbers of the labels' examples.
[[nodiscard]] inline std::vector<std::vector<LabelSpelling>> like_labels(
    std::span<const std::string> names, std::span<const std::size_t> examples) {
  std::map<std::string, std::vector<LabelSpelling>> groups;
  for (std::size_t i = 0; i < names.size(); ++i) {
    groups[label_key(names[i])].push_back({names[i], examples[i]});
  }
  std::vector<std::vector<LabelSpelling>> alike;
  for (auto& [key, spellings] : groups) {
    if (spellings.size() < 2) continue;
    std::ranges::sort(spellings, [](const LabelSpelling& a, const LabelSpelling& b) {
      if (a.examples != b.examples) return a.examples > b.examples;
      return a.name.size() != b.name.size() ? a.name.size() < b.name.size() : a.name > b.name;
    });
    alike.push_back(std::move(spellings));
  }
  return alike;
}

/// Returns the name that stands for all spellings of a label: the most frequent one, without the
/// blanks around it. `spellings` are a group of `like_labels`.
[[nodiscard]] inline std::string joined_name(std::span<const LabelSpelling> spellings) {
  std::map<std::string_view, std::size_t> examples;
  for (const LabelSpelling& spelling : spellings) {
    examples[trimmed_label(spelling.name)] += spelling.examples;
  }
  std::string_view chosen = trimmed_label(spellings.front().name);
  for (const LabelSpelling& spelling : spellings) {
    const auto name = trimmed_label(spelling.name);
    if (examples[name] > examples[chosen]) chosen = name;
  }
  return std::string{chosen.empty() ? std::string_view{spellings.front().name} : chosen};
}

/// Returns `'good' (8), 'GOOD' (4)`: spellings of a label with the numbers of their examples.
[[nodiscard]] inline std::string to_text(std::span<const LabelSpelling> spellings) {
  std::string text;
  for (const LabelSpelling& spelling : spellings) {
    text += (text.empty() ? "'" : ", '") + shown(spelling.name) + "' (" +
            std::to_string(spelling.examples) + ")";
  }
  return text;
}

/// Returns a warning that names the labels that are alike and ends in the advice, else "".
[[nodiscard]] inline std::string like_label_warning(std::span<const std::string> names,
                                                    std::span<const std::size_t> examples,
                                                    std::string_view advice) {
  constexpr std::size_t most_named = 8;
  const auto alike = like_labels(names, examples);
  if (alike.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(alike.size(), most_named); ++i) {
    text += (i == 0 ? "" : "; ") + to_text(alike[i]);
  }
  if (alike.size() > most_named) {
    text += "; and " + std::to_string(alike.size() - most_named) + " more";
  }
  return "labels that differ only in case, in blanks or in how a number is written are different "
         "labels to the model: " +
         text + "; " + std::string{advice};
}

/// Tells whether programs write a label in place of a value that is missing: nan, NULL, None, NA,
/// `\N` and the like, or nothing that can be seen.
[[nodiscard]] inline bool stands_for_missing(std::string_view label) {
  constexpr std::array<std::string_view, 14> known{"",    "nan", "-nan", "null",     "none",
                                                   "na",  "n/a", "#n/a", "#na",      "<na>",
                                                   "nil", "nat", "\\n",  "undefined"};
  return std::ranges::count(known, label_key(label)) > 0;
}

namespace detail {

/// Returns the labels for which `wanted` returns true, as `to_text` does.
template <class Wanted>
std::string listed_labels(std::span<const std::string> names, std::span<const std::size_t> examples,
                          const Wanted& wanted) {
  constexpr std::size_t most_named = 8;
  std::vector<LabelSpelling> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (wanted(names[i])) found.push_back({names[i], examples[i]});
  }
  const std::span all{found};
  if (all.size() <= most_named) return to_text(all);
  return to_text(all.first(most_named)) + ", and " + std::to_string(all.size() - most_named) +
         " more";
}

}  // namespace detail

/// Returns a warning that names the labels that often stand for a missing value, else "".
[[nodiscard]] inline std::string missing_label_warning(std::span<const std::string> names,
                                                       std::span<const std::size_t> examples) {
  const auto text = detail::listed_labels(names, examples, stands_for_missing);
  if (text.empty()) return {};
  return "labels that often stand for a missing value are labels to the model: " + text +
         "; leave out their rows if these have no label";
}

/// Returns a warning that names the labels that are lists as text, such as `["good"]`, else "".
[[nodiscard]] inline std::string list_label_warning(std::span<const std::string> names,
                                                    std::span<const std::size_t> examples) {
  const auto is_list = [](const std::string& name) {
    const bool quoted = name.starts_with("[\"") || name.starts_with("['");
    return name == "[]" || (quoted && name.ends_with(']'));
  };
  const auto text = detail::listed_labels(names, examples, is_list);
  if (text.empty()) return {};
  return "labels that are lists are names to the model: " + text +
         "; several labels of an example are --problem-type multi_label_classification";
}

}  // namespace seqtrain::data
