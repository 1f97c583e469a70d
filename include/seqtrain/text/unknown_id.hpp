#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <seqtrain/text/any_tokenizer.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// Returns the id that stands for text which the vocabulary lacks, or nothing if there is no such
/// id, as in tokenizers of bytes. It is the id that two letters of scripts that vocabularies lack
/// have in common: an Egyptian hieroglyph and a sign of cuneiform.
template <class T>
[[nodiscard]] std::optional<Id> unknown_id(const T& tokenizer) {
  typename T::Scratch scratch;
  std::vector<Id> ids;
  std::optional<Id> last;
  for (const std::string_view letter : {"\xF0\x93\x80\x81", "\xF0\x92\x80\x89"}) {
    ids.clear();
    tokenizer.encode(letter, {}, {.add_special_tokens = false}, scratch, ids);
    if (ids.empty() || (last && *last != ids.back())) return {};
    last = ids.back();
  }
  return last;
}

/// Returns the id for a tokenizer whose family is known only at run time.
[[nodiscard]] inline std::optional<Id> unknown_id(const AnyTokenizer& tokenizer) {
  return tokenizer.visit([](const auto& known) { return unknown_id(known); });
}

}  // namespace seqtrain::text
