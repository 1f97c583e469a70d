#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// The number of ids that each text of a pair keeps.
struct PairLengths {
  std::size_t first = 0;
  std::size_t second = 0;

  bool operator==(const PairLengths&) const = default;
};

/// Truncates a pair by Hugging Face's `longest_first`: the longer text is cut until both fill the
/// budget, but not below the length of the shorter one. If they still exceed the budget, each keeps
/// half of it. An odd id goes to the text that was longer, or to the second if they were equal, or
/// always to the first if `odd_to_first`, as in transformers' tokenizers that are Python code.
[[nodiscard]] constexpr PairLengths longest_first(PairLengths lengths, std::size_t budget,
                                                  bool odd_to_first = false) {
  auto [shorter, longer] = lengths;
  if (shorter + longer <= budget) return lengths;
  const bool swapped = shorter > longer;
  if (swapped) std::swap(shorter, longer);
  longer = shorter > budget ? shorter : std::max(shorter, budget - shorter);
  if (shorter + longer > budget) {
    shorter = budget / 2;
    longer = shorter + budget % 2;
    if (odd_to_first) return {longer, shorter};
  }
  if (swapped) std::swap(shorter, longer);
  return {shorter, longer};
}

/// Truncates a pair by Hugging Face's `only_first`: the first text is cut until both fill the
/// budget, which the second one must not exceed.
[[nodiscard]] constexpr PairLengths cut_first(PairLengths lengths, std::size_t budget) {
  return {std::min(lengths.first, budget - lengths.second), lengths.second};
}

/// The special tokens around a text, or around and between the two texts of a pair.
struct Template {
  std::vector<Id> before = {};
  std::vector<Id> between = {};  ///< empty for single texts
  std::vector<Id> after = {};
  /// The number of ids in `between` that have type 0; later ids have type 1. Without a value all
  /// ids have type 0.
  std::optional<std::size_t> type_zero_between = {};

  [[nodiscard]] std::size_t special_tokens() const noexcept {
    return before.size() + between.size() + after.size();
  }
};

/// The templates of a single text and of a pair.
struct Templates {
  Template single = {};
  Template pair = {.type_zero_between = 0};
  bool trims_spaces = false;     ///< a token's offsets leave out the spaces around it
  bool odd_id_to_first = false;  ///< see `longest_first`
};

/// Returns BERT's templates: `[CLS] A [SEP]`, and `[CLS] A [SEP] B [SEP]` with type 1 from B on.
[[nodiscard]] inline Templates bert_templates(Id cls, Id sep) {
  return {.single = {.before = {cls}, .after = {sep}},
          .pair = {.before = {cls}, .between = {sep}, .after = {sep}, .type_zero_between = 1}};
}

/// Returns RoBERTa's templates: `<s>A</s>`, and `<s>A</s></s>B</s>` with type 0 only.
[[nodiscard]] inline Templates roberta_templates(Id cls, Id sep) {
  return {.single = {.before = {cls}, .after = {sep}},
          .pair = {.before = {cls}, .between = {sep, sep}, .after = {sep}},
          .trims_spaces = true};
}

}  // namespace seqtrain::text
