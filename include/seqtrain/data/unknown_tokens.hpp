#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include <seqtrain/data/describe.hpp>
#include <seqtrain/data/encoded_set.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::data {

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
