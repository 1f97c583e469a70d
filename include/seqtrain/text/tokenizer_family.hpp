#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/esm_tokenizer.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/word_tokenizer.hpp>

namespace seqtrain::text {

/// The tokenizer in an `AnyTokenizer`, of one of the families that `load_tokenizer` reads.
struct TokenizerFamily : std::variant<BertTokenizer, RobertaTokenizer, NormalizedByteLevelTokenizer,
                                      AssembledTokenizer, WordTokenizer, EsmTokenizer> {
  using variant::variant;
};

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

}  // namespace seqtrain::text
