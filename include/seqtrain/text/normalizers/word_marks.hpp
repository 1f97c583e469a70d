#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <seqtrain/text/normalizers/html_fixes.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Words that mark properties of the text. fastai's vocabularies begin with them in this order.
struct Mark {
  static constexpr std::string_view unknown = "xxunk";
  static constexpr std::string_view padding = "xxpad";
  static constexpr std::string_view begin = "xxbos";
  static constexpr std::string_view end = "xxeos";
  static constexpr std::string_view field = "xxfld";
  static constexpr std::string_view repeated_character = "xxrep";  ///< `xxrep 4 !` for `!!!!`
  static constexpr std::string_view repeated_word = "xxwrep";      ///< `xxwrep 3 no` for `no no no`
  static constexpr std::string_view upper_case = "xxup";           ///< `xxup usa` for `USA`
  static constexpr std::string_view capitalized = "xxmaj";         ///< `xxmaj paris` for `Paris`

  static constexpr std::array<std::string_view, 9> all{
      unknown,       padding,    begin,      end, field, repeated_character,
      repeated_word, upper_case, capitalized};
};

namespace detail {

/// Tells whether a character can be in a word with others: it is in \w, or it is a number such as
/// ½.
[[nodiscard]] inline bool is_in_word(char32_t code) {
  return is_word_character(code) || is_numeric(code);
}

/// Appends ` mark count what ` to `out`.
inline void append_mark(std::string& out, std::string_view mark, std::size_t count,
                        std::string_view what) {
  out.append(" ").append(mark).append(" ").append(std::to_string(count));
  out.append(" ").append(what).append(" ");
}

[[nodiscard]] inline std::string_view character_at(std::string_view text, std::size_t position) {
  return text.substr(position, utf8_length(text[position]));
}

/// Marks each character other than whitespace that is repeated three times or more.
[[nodiscard]] inline std::string mark_repeated_characters(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view character = character_at(text, i);
    std::size_t end = i;
    while (text.substr(end).starts_with(character)) end += character.size();
    const std::size_t count = (end - i) / character.size();
    std::size_t at = 0;
    if (count < 3 || is_whitespace(decode(character, at))) {
      out += text.substr(i, end - i);
    } else {
      append_mark(out, Mark::repeated_character, count, character);
    }
    i = end;
  }
  return out;
}

/// Returns the end of the run of characters in a class that begins at `position`.
template <class Class>
std::size_t end_of(std::string_view text, std::size_t position, const Class& in_class) {
  while (position < text.size()) {
    std::size_t next = position;
    if (!in_class(decode(text, next))) break;
    position = next;
  }
  return position;
}

struct RepeatedWord {
  std::string_view word;
  std::size_t count = 0;
  std::size_t end = 0;  ///< end of the last repetition
};

/// Returns the word at `begin` if it stands there three times or more, separated by whitespace. The
/// caller checks that whitespace or nothing precedes the first; no word character may follow the
/// last.
[[nodiscard]] inline std::optional<RepeatedWord> repeated_word(std::string_view text,
                                                               std::size_t begin) {
  std::size_t end = end_of(text, begin, is_in_word);
  const std::string_view word = text.substr(begin, end - begin);
  std::optional<RepeatedWord> found;
  for (std::size_t count = 2; !word.empty(); ++count) {
    const std::size_t next = end_of(text, end, is_whitespace);
    if (next == end || !text.substr(next).starts_with(word)) break;
    end = next + word.size();
    if (end_of(text, end, is_in_word) != end) break;
    if (count >= 3) found = RepeatedWord{word, count, end};
  }
  return found;
}

[[nodiscard]] inline std::string mark_repeated_words(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t next = i;
    const bool space = is_whitespace(decode(text, next));
    std::optional<RepeatedWord> run;
    if (space || i == 0) run = repeated_word(text, space ? next : i);
    if (run) {
      append_mark(out, Mark::repeated_word, run->count, run->word);
      next = i = run->end;
      if (next < text.size()) next += character_at(text, next).size();  // is copied unmarked
    }
    out += text.substr(i, next - i);
    i = next;
  }
  return out;
}

/// Puts spaces around `/`, `#` and `\` and joins several spaces into one.
[[nodiscard]] inline std::string space_out(std::string_view text) {
  std::string out;
  const auto put = [&out](char c) {
    if (c != ' ' || !out.ends_with(' ')) out += c;
  };
  for (const char c : text) {
    const bool alone = c == '/' || c == '#' || c == '\\';
    if (alone) put(' ');
    put(c);
    if (alone) put(' ');
  }
  return out;
}

/// Returns the mark for the capitals of a string without whitespace, or "". Only ASCII letters
/// count.
[[nodiscard]] inline std::string_view capitals_mark(std::string_view written) {
  const auto upper = [](char c) { return 'A' <= c && c <= 'Z'; };
  const auto lower = [](char c) { return 'a' <= c && c <= 'z'; };
  if (written.size() < 2 || !upper(written[0])) return {};
  if (std::ranges::none_of(written, lower)) return Mark::upper_case;
  return std::ranges::none_of(written.substr(1), upper) ? Mark::capitalized : std::string_view{};
}

inline void append_lower(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    for (const char32_t code : lower(decode(text, i))) append_utf8(out, code);
  }
}

/// Appends the text in lower case with its capitals marked.
inline void append_capitals_marked(std::string& out, std::string_view text) {
  const auto written = [](char32_t code) { return !is_whitespace(code); };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of(text, i, written);
    const std::string_view mark = capitals_mark(text.substr(i, end - i));
    if (!mark.empty()) out.append(mark).append(" ");
    append_lower(out, text.substr(i, end - i));
    i = end_of(text, end, is_whitespace);
    out += text.substr(end, i - end);
  }
}

}  // namespace detail

/// The normalizer of AWD-LSTM models: text in lower case with marks before capitalized and repeated
/// words. It applies fastai's `fix_html`, `replace_rep`, `replace_wrep`, `spec_add_spaces`,
/// `rm_useless_spaces`, `replace_all_caps`, `replace_maj` and `lowercase` in this order. Each
/// character is lowered alone, so there is no final sigma.
struct WordMarks {
  void normalize(std::string_view text, std::string& out) const {
    std::string marked = detail::mark_repeated_characters(fix_html(text));
    marked = detail::mark_repeated_words(marked);
    detail::append_capitals_marked(out, detail::space_out(marked));
  }
};

/// Splits a text into words. A word is a run of word characters (`\w`). Each other character that
/// is not whitespace, and each ideograph, is a word by itself.
struct WordSplitter {
  /// Calls `fn(std::string_view)` for each word of `text`, which must be valid UTF-8.
  template <class Fn>
  void for_each_word(std::string_view text, Fn&& fn) const {
    const auto joins = [](char32_t code) {
      return detail::is_in_word(code) && !is_ideograph(code);
    };
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t begin = i;
      const char32_t code = decode(text, i);
      if (is_whitespace(code)) continue;
      if (joins(code)) i = detail::end_of(text, i, joins);
      fn(text.substr(begin, i - begin));
    }
  }
};

}  // namespace seqtrain::text
