#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// The special tokens around a text, or around and between the halves of a pair.
struct Template {
  std::vector<Id> before = {};
  std::vector<Id> between = {};  ///< empty for single texts
  std::vector<Id> after = {};
  /// How many of `between` have type 0; then type 1 begins. Nothing: all ids have type 0.
  std::optional<std::size_t> type_zero_between = {};

  [[nodiscard]] std::size_t special_tokens() const noexcept {
    return before.size() + between.size() + after.size();
  }
};

struct Templates {
  Template single = {};
  Template pair = {.type_zero_between = 0};
  bool trims_spaces = false;  ///< a token's place in its text leaves out the spaces around it
};

/// `[CLS] A [SEP]` and `[CLS] A [SEP] B [SEP]`, with type 1 from B on.
[[nodiscard]] inline Templates bert_templates(Id cls, Id sep) {
  return {.single = {.before = {cls}, .after = {sep}},
          .pair = {.before = {cls}, .between = {sep}, .after = {sep}, .type_zero_between = 1}};
}

/// `<s>A</s>` and `<s>A</s></s>B</s>`, all of type 0.
[[nodiscard]] inline Templates roberta_templates(Id cls, Id sep) {
  return {.single = {.before = {cls}, .after = {sep}},
          .pair = {.before = {cls}, .between = {sep, sep}, .after = {sep}},
          .trims_spaces = true};
}

}  // namespace seqtrain::text
