#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <seqtrain/text/pre_tokenizers/word_pattern.hpp>
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

/// Returns the length in bytes of the contraction that begins with the apostrophe at `position`, in
/// any case, or 0. The case of U+017F, the long s, is another one of s.
[[nodiscard]] constexpr std::size_t contraction_length_of_any_case(std::string_view text,
                                                                   std::size_t position) noexcept {
  const std::string_view tail = text.substr(position + 1, 2);
  if (tail == "\xC5\xBF") return 3;
  char lower[] = {'\'', ' ', ' '};
  for (std::size_t i = 0; i < tail.size(); ++i) {
    lower[i + 1] = 'A' <= tail[i] && tail[i] <= 'Z' ? static_cast<char>(tail[i] | 0x20) : tail[i];
  }
  return contraction_length({lower, tail.size() + 1}, 0);
}

/// Cuts a text into words that cover all of it, by one of the rules of `WordPattern`.
struct ByteLevelSplitter {
  bool add_prefix_space = false;  ///< puts a space before a text that does not begin with one
  WordPattern pattern = WordPattern::gpt2;

  /// Calls `fn(std::string_view)` for each word of `text`, which must be valid UTF-8.
  template <class Fn>
  void for_each_word(std::string_view text, Fn&& fn) const {
    if (!add_prefix_space || text.empty() || text.front() == ' ') return split(text, fn);
    split(std::string{' '}.append(text), fn);
  }

  /// Returns the end of the word that begins at `begin`.
  [[nodiscard]] static std::size_t word_end(std::string_view text, std::size_t begin,
                                            WordPattern pattern = WordPattern::gpt2) {
    switch (pattern) {
      case WordPattern::gpt2_digits:
        return gpt2_word_end<true>(text, begin);
      case WordPattern::gpt4:
        return gpt4_word_end(text, begin, 3);
      case WordPattern::qwen2:
        return gpt4_word_end(text, begin, 1);
      case WordPattern::gpt2:
        break;
    }
    return gpt2_word_end<false>(text, begin);
  }

 private:
  static constexpr int letter = CharacterTable::letter;
  static constexpr int number = CharacterTable::number;
  static constexpr int whitespace = CharacterTable::whitespace;
  static constexpr int other = 0;
  static constexpr int digit = -1;  ///< a character that is always a word of its own

  /// The classes of ASCII characters, which are most characters of many texts.
  static constexpr auto ascii_classes = [] {
    std::array<signed char, 128> classes{};
    const auto set = [&](char first, char last, int kind) {
      for (char c = first; c <= last; ++c) {
        classes[static_cast<unsigned char>(c)] = static_cast<signed char>(kind);
      }
    };
    set('a', 'z', letter);
    set('A', 'Z', letter);
    set('0', '9', number);
    set('\t', '\r', whitespace);
    set(' ', ' ', whitespace);
    return classes;
  }();

  template <class Fn>
  void split(std::string_view text, Fn& fn) const {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = word_end(text, begin, pattern);
      fn(text.substr(begin, end - begin));
      begin = end;
    }
  }

  /// Returns the class of the character at `position`: letter, number, whitespace or other, or
  /// digit if `has_digits` is set. Moves `position` past the character.
  template <bool has_digits = false>
  [[nodiscard]] static int class_at(std::string_view text, std::size_t& position) {
    if (const auto byte = static_cast<unsigned char>(text[position]); byte < 0x80) {
      ++position;
      return has_digits && ascii_classes[byte] == number ? digit : ascii_classes[byte];
    }
    const char32_t code = decode(text, position);
    if (has_digits && is_numeric(code)) return digit;
    return CharacterTable::instance().properties(code) & (letter | number | whitespace);
  }

  /// Returns the end of the characters of one class at `position`, at most `longest` of them.
  template <bool has_digits = false>
  [[nodiscard]] static std::size_t run_end(std::string_view text, std::size_t position, int kind,
                                           std::size_t longest = std::string_view::npos) {
    for (std::size_t next = position; next < text.size() && longest > 0; position = next) {
      if (class_at<has_digits>(text, next) != kind) break;
      --longest;
    }
    return position;
  }

  /// Follows `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
  template <bool has_digits>
  [[nodiscard]] static std::size_t gpt2_word_end(std::string_view text, std::size_t begin) {
    if (text[begin] == '\'') {
      if (const std::size_t length = contraction_length(text, begin)) return begin + length;
    }
    const bool spaced = text[begin] == ' ';
    std::size_t next = begin + (spaced ? 1 : 0);
    if (next < text.size()) {
      const int kind = class_at<has_digits>(text, next);
      if (kind == digit && !spaced) return next;
      if (kind != whitespace && kind != digit) return run_end<has_digits>(text, next, kind);
    }
    return whitespace_end<has_digits>(text, begin);
  }

  /// Returns the end of the whitespace word at `begin`. The last of several whitespace characters
  /// before a word is left to that word, unless the word is a digit.
  template <bool has_digits = false>
  [[nodiscard]] static std::size_t whitespace_end(std::string_view text, std::size_t begin) {
    std::size_t last = begin;
    for (std::size_t end = begin; end < text.size();) {
      std::size_t next = end;
      const int kind = class_at<has_digits>(text, next);
      if (kind != whitespace) return kind == digit || last == begin ? end : last;
      last = end;
      end = next;
    }
    return text.size();
  }

  /// Follows the pattern of GPT-4, where `most_digits` numbers at most make a word.
  [[nodiscard]] static std::size_t gpt4_word_end(std::string_view text, std::size_t begin,
                                                 std::size_t most_digits) {
    if (text[begin] == '\'') {
      const std::size_t length = contraction_length_of_any_case(text, begin);
      if (length > 0) return begin + length;
    }
    std::size_t next = begin;
    const int kind = class_at(text, next);
    if (kind == letter) return run_end(text, next, letter);
    if (kind == number) return run_end(text, next, number, most_digits - 1);
    if (!is_line_end(text[begin])) {
      const std::size_t end = run_end(text, next, letter);
      if (end > next) return end;
    }
    const bool spaced = text[begin] == ' ';
    const std::size_t end = spaced || kind == other ? run_end(text, next, other) : next;
    if (end > next || kind == other) return line_ends_end(text, end);
    const std::size_t line = last_line_end(text, begin);
    return line > begin ? line : whitespace_end(text, begin);
  }

  [[nodiscard]] static bool is_line_end(char c) noexcept { return c == '\n' || c == '\r'; }

  [[nodiscard]] static std::size_t line_ends_end(std::string_view text, std::size_t position) {
    while (position < text.size() && is_line_end(text[position])) ++position;
    return position;
  }

  /// Returns the end of the last line end in the whitespace at `begin`, or `begin`.
  [[nodiscard]] static std::size_t last_line_end(std::string_view text, std::size_t begin) {
    std::size_t last = begin;
    for (std::size_t next = begin, at = begin; at < text.size(); at = next) {
      if (class_at(text, next) != whitespace) break;
      if (is_line_end(text[at])) last = next;
    }
    return last;
  }
};

}  // namespace seqtrain::text
