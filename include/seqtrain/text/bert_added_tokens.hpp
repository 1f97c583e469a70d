#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/added_tokens.hpp>
#include <seqtrain/text/normalizers/bert_normalizer.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// The added tokens that are looked for in the normal form of a text, for a pipeline that encodes
/// the text word by word.
class BertAddedTokens {
 public:
  BertAddedTokens() = default;

  /// The contents of `tokens` must be normal forms.
  BertAddedTokens(const BertNormalizer& normalizer, std::vector<AddedToken> tokens)
      : normalizer_{normalizer} {
    const auto others =
        std::stable_partition(tokens.begin(), tokens.end(), &BertAddedTokens::is_in_words);
    std::vector<AddedToken> openings;
    std::for_each(others, tokens.end(),
                  [&](const AddedToken& token) { add_openings(token.content, openings); });
    openings_of_others_ = AddedTokens{std::move(openings)};
    tokens.erase(others, tokens.end());
    in_words_ = AddedTokens{std::move(tokens)};
  }

  /// Returns the tokens of ASCII letters and digits. The normalizer puts no separator into such a
  /// token, so each occurrence lies between two separators of the raw text.
  [[nodiscard]] const AddedTokens& in_words() const noexcept { return in_words_; }

  /// Returns whether one of the other tokens may occur in the normal form of `text`. True is no
  /// proof: it means that the raw text has bytes with which such a token can begin.
  [[nodiscard]] bool others_may_occur(std::string_view text) const {
    return others_may_begin_anywhere_ || openings_of_others_.contained_in(text);
  }

 private:
  static bool is_ascii_alphanumeric(char c) noexcept {
    return ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
  }

  static bool is_in_words(const AddedToken& token) {
    return !token.single_word && !token.lstrip && !token.rstrip &&
           std::ranges::all_of(token.content, is_ascii_alphanumeric);
  }

  /// Adds the bytes of a raw text at which the token may begin in the normal form: the token's
  /// first character with a byte that may follow it, and each character whose normal form contains
  /// the first one.
  void add_openings(std::string_view content, std::vector<AddedToken>& openings) {
    if (content.empty()) return;
    if (!is_printable_ascii(content[0])) {
      others_may_begin_anywhere_ = true;
      return;
    }
    for (const char first : with_upper_case(content[0])) {
      if (content.size() == 1 || !is_printable_ascii(content[1])) {
        openings.push_back({.content = {first}});
        continue;
      }
      // Between the two the raw text may have characters that the normalizer drops: control
      // characters and non-ASCII characters.
      const std::string seconds = with_upper_case(content[1]);
      for (int byte = 0; byte < 256; ++byte) {
        const char second = static_cast<char>(byte);
        const bool stays = is_printable_ascii(second) || is_ascii_space(second);
        if (stays && seconds.find(second) == std::string::npos) continue;
        openings.push_back({.content = {first, second}});
      }
    }
    add_characters_normalized_to(content[0], openings);
  }

  static bool is_ascii_space(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
  }

  static bool is_printable_ascii(char c) noexcept { return ' ' < c && c < 0x7F; }

  /// Returns the character, and its upper case if the normalizer lowers it.
  [[nodiscard]] std::string with_upper_case(char c) const {
    std::string both{c};
    if (normalizer_.lowercase && 'a' <= c && c <= 'z') both += static_cast<char>(c - 'a' + 'A');
    return both;
  }

  void add_characters_normalized_to(char first, std::vector<AddedToken>& openings) const {
    std::string character, normal;
    for (char32_t code = 0x80; code < 0x110000; ++code) {
      if (!has_property(code, CharacterTable::mapped)) continue;
      character.clear();
      normal.clear();
      append_utf8(character, code);
      normalizer_.normalize(character, normal);
      if (normal.find(first) != std::string::npos) openings.push_back({.content = character});
    }
  }

  BertNormalizer normalizer_;
  AddedTokens in_words_;
  AddedTokens openings_of_others_;
  bool others_may_begin_anywhere_ = false;
};

}  // namespace seqtrain::text
