#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <seqtrain/core/problem_type.hpp>
#include <seqtrain/core/random.hpp>
#include <seqtrain/core/shown_text.hpp>
#include <seqtrain/core/text_similarity.hpp>
#include <seqtrain/data/encoded_file.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/data/labels.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::data {

/// Returns the number of examples with each label of a set; zeros for regression.
[[nodiscard]] inline std::vector<std::size_t> label_counts(const EncodedSet& set,
                                                           ProblemType problem_type,
                                                           std::size_t labels) {
  std::vector<std::size_t> counts(labels);
  for (std::size_t row = 0; row < set.size(); ++row) {
    if (problem_type == ProblemType::single_label && set.label(row) >= 0) {
      ++counts[static_cast<std::size_t>(set.label(row))];
    }
    if (problem_type != ProblemType::multi_label) continue;
    for (std::size_t label = 0; const float target : set.targets(row)) {
      counts[label++] += target > 0.5F ? 1 : 0;
    }
  }
  return counts;
}

/// A summary of a set of examples. Two examples are equal if their ids are.
struct SetSummary {
  std::size_t examples = 0;
  std::size_t left_out = 0;              ///< records without a gold label
  std::size_t empty_texts = 0;           ///< examples of the whole file with an empty text
  std::vector<std::size_t> labels = {};  ///< examples with each label; none for regression
  std::size_t median = 0;                ///< median length in tokens
  std::size_t percentile_95 = 0;         ///< length that 95 % of the examples do not exceed
  std::size_t longest = 0;
  /// Examples that were truncated or have exactly the maximum length.
  std::size_t at_max_length = 0;
  std::size_t repeated = 0;  ///< examples that are equal to an earlier one of the set
  std::size_t in_train = 0;  ///< examples that are equal to one of the training set
};

/// A summary of the examples of a run.
struct DataSummary {
  std::vector<std::string> labels = {};  ///< names; none for regression
  SetSummary train = {};
  SetSummary dev = {};
};

namespace detail {

/// Returns a hash of a row's ids and of the start of its second segment.
inline std::uint64_t row_hash(const EncodedSet& set, std::size_t row) {
  std::uint64_t hash = random::mix(set.length(row), set.first_segment(row));
  set.visit_ids([&](const auto* all) {
    for (const auto id : std::span{all + set.begin_of(row), set.length(row)}) {
      hash = random::scramble(hash + id);
    }
  });
  return hash;
}

/// Returns the hashes of all rows in ascending order.
inline std::vector<std::uint64_t> row_hashes(const EncodedSet& set) {
  std::vector<std::uint64_t> hashes(set.size());
  for (std::size_t row = 0; row < set.size(); ++row) hashes[row] = row_hash(set, row);
  std::ranges::sort(hashes);
  return hashes;
}

inline void measure_lengths(const EncodedSet& set, SetSummary& summary) {
  if (set.empty()) return;
  summary.longest = set.longest();
  std::vector<std::size_t> rows_of_length(summary.longest + 1);
  for (std::size_t row = 0; row < set.size(); ++row) ++rows_of_length[set.length(row)];
  const auto length_of = [&](std::size_t rank) {
    std::size_t length = 0;
    for (std::size_t rows = rows_of_length[0]; rows < rank; rows += rows_of_length[++length]) {
    }
    return length;
  };
  summary.median = length_of((set.size() + 1) / 2);
  summary.percentile_95 = length_of((set.size() * 95 + 99) / 100);
}

/// Returns the summary of a file whose rows have the hashes `own`. `train` are those of the
/// training set, or none if it is the training set itself.
inline SetSummary summary_of(const EncodedFile& file, const Labels& labels,
                             std::span<const std::uint64_t> own,
                             std::span<const std::uint64_t> train = {}) {
  SetSummary summary{.examples = file.set.size(),
                     .left_out = file.left_out,
                     .empty_texts = file.empty_texts,
                     .at_max_length = file.at_max_length()};
  if (has_labels(labels.problem_type())) {
    summary.labels = label_counts(file.set, labels.problem_type(), labels.size());
  }
  measure_lengths(file.set, summary);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i > 0 && own[i] == own[i - 1]) ++summary.repeated;
    if (std::ranges::binary_search(train, own[i])) ++summary.in_train;
  }
  return summary;
}

/// Returns a count with its percentage: `12 (1.5 %)`.
inline std::string with_share(std::size_t count, std::size_t all) {
  char text[64];
  std::snprintf(text, sizeof text, "%zu (%.1f %%)", count,
                all == 0 ? 0.0 : 100 * static_cast<double>(count) / static_cast<double>(all));
  return text;
}

inline std::string to_text(const std::string& name, const SetSummary& set,
                           const std::vector<std::string>& labels) {
  constexpr std::size_t most_labels_listed = 8;
  std::string text = name + ": " + std::to_string(set.examples) + " examples; tokens: median " +
                     std::to_string(set.median) + ", 95 % up to " +
                     std::to_string(set.percentile_95) + ", longest " + std::to_string(set.longest);
  const auto add = [&text](std::size_t count, const std::string& what) {
    if (count > 0) text += "; " + what;
  };
  add(set.at_max_length, with_share(set.at_max_length, set.examples) + " with the maximum length");
  add(set.repeated, with_share(set.repeated, set.examples) + " repeated");
  add(set.empty_texts, std::to_string(set.empty_texts) + " with an empty text");
  add(set.left_out, std::to_string(set.left_out) + " without a gold label left out");
  std::vector<std::size_t> order(set.labels.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (order.size() > most_labels_listed) {
    std::ranges::stable_sort(order, [&](auto a, auto b) { return set.labels[a] > set.labels[b]; });
  }
  for (std::size_t i = 0; i < std::min(order.size(), most_labels_listed); ++i) {
    text += (i == 0 ? "\n  " : ", ") + shown(labels[order[i]]) + " " +
            with_share(set.labels[order[i]], set.examples);
  }
  if (order.size() > most_labels_listed) {
    text += ", … and " + std::to_string(order.size() - most_labels_listed) + " more labels";
  }
  return text;
}

/// Returns the label that is spelled most like the label `rare` and has ten times as many training
/// examples, or `rare` itself if there is none. Names with digits may well be alike.
inline std::size_t label_like(const DataSummary& data, std::size_t rare) {
  std::size_t chosen = rare, least = 3;
  if (data.labels[rare].find_first_of("0123456789") != std::string::npos) return rare;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    if (data.train.labels[i] < std::max<std::size_t>(10 * data.train.labels[rare], 1)) continue;
    const std::size_t distance = edit_distance(data.labels[rare], data.labels[i]);
    if (distance < least && 2 * distance < data.labels[rare].size()) {
      least = distance;
      chosen = i;
    }
  }
  return chosen;
}

}  // namespace detail

/// Summarises the examples of a run before training. Takes time linear in the number of tokens,
/// sorts the examples' hashes, and uses 8 bytes per example.
[[nodiscard]] inline DataSummary describe(const EncodedFile& train, const EncodedFile& dev,
                                          const Labels& labels) {
  DataSummary summary;
  if (has_labels(labels.problem_type())) summary.labels = labels.names();
  const auto rows_of_train = detail::row_hashes(train.set);
  summary.train = detail::summary_of(train, labels, rows_of_train);
  summary.dev = detail::summary_of(dev, labels, detail::row_hashes(dev.set), rows_of_train);
  return summary;
}

/// Returns the lines about a run's examples for the log.
[[nodiscard]] inline std::string to_text(const DataSummary& data) {
  return detail::to_text("Train", data.train, data.labels) + "\n" +
         detail::to_text("Dev", data.dev, data.labels);
}

/// Returns a warning if dev examples are also in the training set, else "".
[[nodiscard]] inline std::string leak_warning(const DataSummary& data) {
  if (data.dev.in_train == 0) return {};
  return detail::with_share(data.dev.in_train, data.dev.examples) +
         " of the dev examples are in the training set too, so figures on dev are too good; remove "
         "them from one of the two";
}

/// Returns a warning if dev examples are nearly equal to training examples, else "". `near` counts
/// those and the equal ones.
[[nodiscard]] inline std::string near_leak_warning(const DataSummary& data, std::size_t near) {
  if (near <= data.dev.in_train) return {};
  return detail::with_share(near - data.dev.in_train, data.dev.examples) +
         " of the dev examples differ from a training example only in case, in punctuation or in a "
         "few words of a long text, so figures on dev may be too good; keep such texts on one "
         "side, "
         "for instance by --group-field";
}

/// Returns a warning that names labels with at most one training example, and labels with at most
/// five that may be misspellings of another label, else "".
[[nodiscard]] inline std::string rare_label_warning(const DataSummary& data) {
  constexpr std::size_t most_named = 8;
  const std::size_t few = data.labels.size() > 1000 ? 1 : 5;  // each is compared with all labels
  std::string text;
  std::size_t count = 0;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const std::size_t examples = data.train.labels[i];
    if (examples > few || examples + data.dev.labels[i] == 0) continue;
    const std::size_t like = count < most_named ? detail::label_like(data, i) : i;
    if ((examples > 1 && like == i) || ++count > most_named) continue;
    text += (text.empty() ? "'" : ", '") + shown(data.labels[i]) + "' (" + std::to_string(examples);
    text += like == i ? ")" : ", is it '" + shown(data.labels[like]) + "'?)";
  }
  if (count > most_named) text += ", and " + std::to_string(count - most_named) + " more";
  return count == 0 ? "" : "labels with few training examples are hardly learned: " + text;
}

/// Returns a warning if at least a fifth of the tokens of a training set is `unknown`, the id of
/// text that the vocabulary lacks; else "".
[[nodiscard]] inline std::string unknown_warning(const EncodedSet& set,
                                                 std::optional<text::Id> unknown) {
  if (!unknown) return {};
  const auto lacking = set.visit_ids([&](const auto* ids) {
    return std::count_if(ids, ids + set.tokens(),
                         [&](const auto id) { return static_cast<text::Id>(id) == *unknown; });
  });
  const auto count = static_cast<std::size_t>(lacking);
  if (count == 0 || count < set.tokens() / 5) return {};
  return detail::with_share(count, set.tokens()) +
         " of the training tokens are unknown to the model's vocabulary, so the model cannot tell "
         "such texts apart; take a --model that was trained on this language, such as "
         "FacebookAI/xlm-roberta-base";
}

}  // namespace seqtrain::data
