#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/core/separate_compilation.hpp>
#include <seqtrain/predict/words.hpp>
#include <seqtrain/text/unicode/scripts.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::predict {

namespace detail {

/// The kinds of characters: a word has characters of one kind.
enum class CharacterKind { space, letter, alone, punctuation, symbol };

inline CharacterKind kind_of(char32_t code) {
  if (text::is_whitespace(code)) return CharacterKind::space;
  if (text::is_word_character(code)) {
    return text::is_unspaced(code) ? CharacterKind::alone : CharacterKind::letter;
  }
  return text::is_punctuation(code) ? CharacterKind::punctuation : CharacterKind::symbol;
}

/// A character of a text.
struct Character {
  std::size_t begin = 0;
  char32_t code = 0;
  CharacterKind kind = CharacterKind::space;
};

/// Tells whether a character joins its neighbours into one word, as in "don't" and "3.5".
inline bool joins(const Character& before, const Character& it, const Character& after) {
  if (before.kind != CharacterKind::letter || after.kind != CharacterKind::letter) return false;
  if (it.code == U'\'' || it.code == U'\u2019' || it.code == U'-') return true;
  return (it.code == U'.' || it.code == U',') && text::is_numeric(before.code) &&
         text::is_numeric(after.code);
}

/// Returns the characters of a text. A mark has the kind of the character before it, and so has a
/// character that joins.
inline std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char32_t code = text::decode(text, at);
    all.push_back({begin, code, kind_of(code)});
  }
  for (std::size_t i = 1; i < all.size(); ++i) {
    const bool continues =
        text::is_mark(all[i].code) || (i + 1 < all.size() && joins(all[i - 1], all[i], all[i + 1]));
    if (continues) all[i].kind = all[i - 1].kind;
  }
  return all;
}

/// Returns the characters between a word and the one before it.
inline std::string_view gap_before(std::string_view text, std::span<const Word> words,
                                   std::size_t word) {
  return text.substr(words[word - 1].end, words[word].begin - words[word - 1].end);
}

/// Tells whether two words would become one if nothing stood between them.
inline bool would_merge(std::string_view text, const Word& one, const Word& other) {
  std::size_t last = one.end - 1, first = other.begin;
  while (text::is_continuation(text[last])) --last;
  return kind_of(text::decode(text, last)) == CharacterKind::letter &&
         kind_of(text::decode(text, first)) == CharacterKind::letter;
}

/// Returns what stands between two words once those between them are gone.
inline std::string_view separator(std::string_view text, std::span<const Word> words,
                                  std::size_t one, std::size_t other) {
  const auto gap = gap_before(text, words, other);
  if (!gap.empty() || one + 1 == other) return gap;
  const auto after = gap_before(text, words, one + 1);
  if (!after.empty()) return after;
  return would_merge(text, words[one], words[other]) ? " " : "";
}

}  // namespace detail

SEQTRAIN_SEPARATE std::vector<Word> words_of(std::string_view text) {
  using detail::CharacterKind;
  const auto characters = detail::characters_of(text);
  std::vector<Word> words;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    const auto& [begin, code, kind] = characters[i];
    const std::size_t end = i + 1 < characters.size() ? characters[i + 1].begin : text.size();
    if (kind == CharacterKind::space) continue;
    const bool is_mark = text::is_mark(code);
    const bool goes_on =
        i > 0 && characters[i - 1].kind == kind && (kind != CharacterKind::alone || is_mark);
    if (goes_on) {
      words.back().end = end;
    } else {
      words.push_back({begin, end});
    }
  }
  return words;
}

SEQTRAIN_SEPARATE std::string with_words(std::string_view text, std::span<const Word> words,
                                         const std::vector<bool>& kept) {
  std::string out;
  bool all = true;
  std::size_t last = words.size();
  for (std::size_t i = 0; i < words.size(); ++i) {
    all = all && kept[i];
    if (!kept[i]) continue;
    if (last < words.size()) out += detail::separator(text, words, last, i);
    out += text.substr(words[i].begin, words[i].end - words[i].begin);
    last = i;
  }
  return all ? std::string{text} : out;
}

SEQTRAIN_SEPARATE std::size_t character_count(std::string_view text) {
  return text::count_characters(text);
}

}  // namespace seqtrain::predict
