#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <seqtrain/text/models/string_hash.hpp>
#include <seqtrain/text/models/token_trie.hpp>
#include <seqtrain/text/pipeline.hpp>
#include <seqtrain/text/tokenizer.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>
#include <seqtrain/text/word_tokenizer.hpp>

namespace seqtrain::text {

/// Tells whether Python's `str.isspace` is true of a character.
[[nodiscard]] inline bool is_space_in_python(char32_t code) noexcept {
  return is_whitespace(code) || (code >= 0x1C && code <= 0x1F);
}

/// Calls `fn(word)` for each word of a text between spaces, as Python's `str.split` finds them.
template <class Fn>
void for_each_spaced_word(std::string_view text, Fn&& fn) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t at = i;
    if (!is_space_in_python(decode(text, i))) continue;
    if (begin < at) fn(text.substr(begin, at - begin));
    begin = i;
  }
  if (begin < text.size()) fn(text.substr(begin));
}

/// Cuts a text around the tokens of a vocabulary, and what is between them at spaces.
class VocabularySplitter {
 public:
  /// The contents of tokens.
  using Tokens = std::unordered_set<std::string, StringHash, std::equal_to<>>;

  /// `whole` are tokens that stay whole if they have spaces.
  VocabularySplitter(TokenTrie tokens, Tokens whole)
      : tokens_{std::move(tokens)}, whole_{std::move(whole)} {}

  /// Calls `fn(word)` for each token, and for each word between tokens.
  template <class Fn>
  void for_each_word(std::string_view text, Fn&& fn) const {
    tokens_.split(text, [&](std::string_view piece) {
      if (whole_.contains(piece)) return void(fn(piece));
      for_each_spaced_word(piece, fn);
    });
  }

 private:
  TokenTrie tokens_;
  Tokens whole_;
};

/// The tokenizer of ESM, which reads proteins: each amino acid is a token.
using EsmTokenizer = BasicTokenizer<Pipeline<NoNormalizer, VocabularySplitter, WholeWords>>;

static_assert(Tokenizer<EsmTokenizer>);

}  // namespace seqtrain::text
