#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Returns the length in bytes of the contraction ('s 't 'm 'd 're 've 'll) that begins with the
/// apostrophe at `position`, or 0.
[[nodiscard]] constexpr std::size_t contraction_length(std::string_view text,
                                                       std::size_t position) noexcept {
  const std::string_view tail = text.substr(position + 1, 2);
  if (tail.empty()) return 0;
  if (tail[0] == 's' || tail[0] == 't' || tail[0] == 'm' || tail[0] == 'd') return 2;
  return tail == "re" || tail == "ve" || tail == "ll" ? 3 : 0;
}

/// GPT-2's splitter. The words cover the whole text. The pattern is
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
struct ByteLevelSplitter {
  bool add_prefix_space = false;  ///< puts a space before a text that does not begin with one

  /// Calls `fn(std::string_view)` for each word of `text`, which must be valid UTF-8.
  template <class Fn>
  void for_each_word(std::string_view text, Fn&& fn) const {
    if (!add_prefix_space || text.empty() || text.front() == ' ') return split(text, fn);
    split(std::string{' '}.append(text), fn);
  }

  /// Returns the end of the word that begins at `begin`. It ignores `add_prefix_space`.
  [[nodiscard]] static std::size_t word_end(std::string_view text, std::size_t begin) {
    if (text[begin] == '\'') {
      if (const std::size_t length = contraction_length(text, begin)) return begin + length;
    }
    std::size_t next = begin + (text[begin] == ' ' ? 1 : 0);
    if (next < text.size()) {
      const int kind = class_at(text, next);
      if (kind != CharacterTable::whitespace) return run_end(text, next, kind);
    }
    return whitespace_end(text, begin);
  }

 private:
  static constexpr int word_classes = CharacterTable::letter | CharacterTable::number;

  template <class Fn>
  static void split(std::string_view text, Fn& fn) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = word_end(text, begin);
      fn(text.substr(begin, end - begin));
      begin = end;
    }
  }

  /// Returns the class of the character at `position`: letter, number, whitespace, or 0. Moves
  /// `position` past the character.
  [[nodiscard]] static int class_at(std::string_view text, std::size_t& position) {
    const int properties = CharacterTable::instance().properties(decode(text, position));
    return properties & (word_classes | CharacterTable::whitespace);
  }

  [[nodiscard]] static std::size_t run_end(std::string_view text, std::size_t position, int kind) {
    for (std::size_t next = position; next < text.size(); position = next) {
      if (class_at(text, next) != kind) break;
    }
    return position;
  }

  /// Returns the end of the whitespace word at `begin`. The last of several whitespace characters
  /// before a word is left to that word.
  [[nodiscard]] static std::size_t whitespace_end(std::string_view text, std::size_t begin) {
    std::size_t last = begin;
    for (std::size_t end = begin; end < text.size();) {
      std::size_t next = end;
      if (class_at(text, next) != CharacterTable::whitespace) return last == begin ? end : last;
      last = end;
      end = next;
    }
    return text.size();
  }
};

}  // namespace seqtrain::text
