#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <seqtrain/text/unicode/unicode_tables.hpp>

namespace seqtrain::text::unicode_tables {

/// Returns the numbers of a table. A character has 5 bits of a number, the lowest first, and 32 if
/// more follow. The lowest bit of all is the sign.
inline std::vector<std::int32_t> numbers_of(std::string_view table) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::int32_t> result;
  std::size_t bits = 0;
  for (std::size_t i = 0, shift = 0; i < table.size(); ++i) {
    const std::size_t digit = digits.find(table[i]);
    bits |= (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) != 0) continue;
    const auto size = static_cast<std::int32_t>(bits >> 1);
    result.push_back((bits & 1) != 0 ? -size : size);
    bits = shift = 0;
  }
  return result;
}

/// Calls `use(code)` for each character of pairs (gap from the last start, length).
template <class Use>
void for_each_code(std::string_view table, Use&& use) {
  const std::vector<std::int32_t> runs = numbers_of(table);
  std::int32_t first = 0;
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    first += runs[i];
    for (std::int32_t k = 0; k < runs[i + 1]; ++k) use(static_cast<char32_t>(first + k));
  }
}

/// Calls `use(code, parts)` for each character of runs (gap from the last start, length, parts per
/// character, parts), with each part stored as its distance from the part at its place before.
template <class Use>
void for_each_decomposition(std::string_view table, Use&& use) {
  const std::vector<std::int32_t> runs = numbers_of(table);
  std::array<char32_t, 18> parts{};
  std::int32_t first = 0;
  for (std::size_t i = 0; i < runs.size();) {
    first += runs[i];
    const std::int32_t length = runs[i + 1];
    const auto size = static_cast<std::size_t>(runs[i + 2]);
    i += 3;
    for (std::int32_t k = 0; k < length; ++k) {
      for (std::size_t place = 0; place < size; ++place) {
        parts.at(place) += static_cast<char32_t>(runs[i++]);
      }
      use(static_cast<char32_t>(first + k), std::span<const char32_t>{parts}.first(size));
    }
  }
}

}  // namespace seqtrain::text::unicode_tables

namespace seqtrain::text {

/// Up to four characters that replace one, in order.
struct CodePoints {
  char32_t values[4];
  std::size_t size;

  [[nodiscard]] const char32_t* begin() const noexcept { return values; }
  [[nodiscard]] const char32_t* end() const noexcept { return values + size; }
};

/// Character data of the `tokenizers` package, which matches no single version of the Unicode
/// standard. Code points must be at most U+10FFFF.
class CharacterTable {
 public:
  /// A bit of a character's properties.
  enum Property : std::uint8_t {
    letter = 1,
    number = 2,
    whitespace = 4,
    punctuation = 8,
    control = 16,
    ideograph = 32,
    nonspacing_mark = 64,
    mapped = 128,  ///< has a lower case, a decomposition or a combining class
  };

  static const CharacterTable& instance() {
    static const CharacterTable table;
    return table;
  }

  /// Returns the `Property` bits of a character.
  [[nodiscard]] std::uint8_t properties(char32_t code) const noexcept { return properties_[code]; }

  std::vector<bool> words, numeric, marks;  ///< whether a character is in the set

  /// Returns the lower case of a character by itself, so there is no final sigma. Only U+0130 gives
  /// more than one character.
  [[nodiscard]] CodePoints lower(char32_t code) const noexcept {
    if (code == U'\u0130') return {{U'i', U'\u0307'}, 2};
    const char32_t* lower = find(lower_, code);
    return {{lower ? *lower : code}, 1};
  }

  /// Returns the full canonical decomposition (NFD) of one character.
  [[nodiscard]] CodePoints decompose(char32_t code) const noexcept {
    if (hangul_first <= code && code < hangul_first + hangul_count) return decompose_hangul(code);
    const CodePoints* parts = find(decompositions_, code);
    return parts ? *parts : CodePoints{{code}, 1};
  }

  /// Returns the canonical combining class. Marks between two characters of class 0 are sorted by
  /// it.
  [[nodiscard]] std::uint8_t combining_class(char32_t code) const noexcept {
    const std::uint8_t* own = find(classes_, code);
    return own ? *own : std::uint8_t{0};
  }

 private:
  static constexpr char32_t hangul_first = 0xAC00;
  static constexpr char32_t hangul_count = 11172;

  /// A character with its lower case, its decomposition or its combining class.
  template <class T>
  struct Entry {
    char32_t code;
    T value;
  };

  CharacterTable() : words(0x110000), numeric(0x110000), marks(0x110000), properties_(0x110000) {
    using namespace unicode_tables;
    mark(letters, letter);
    mark(numbers, number);
    mark(unicode_tables::whitespace, whitespace);
    mark(unicode_tables::punctuation, punctuation);
    mark(controls, control);
    mark(ideographs, ideograph);
    mark(nonspacing_marks, nonspacing_mark);
    flip(marks, nonspacing_marks);
    flip(marks, mark_differences);
    words = marks;
    flip(words, letters);
    flip(words, numbers);
    flip(words, word_differences);
    flip(numeric, numbers);
    flip(numeric, numeric_differences);
    read_lower_case();
    read_combining_classes();
    read_decompositions();
    const auto map = [this](char32_t code) { properties_[code] |= mapped; };
    for (const auto& entry : lower_) map(entry.code);
    for (const auto& entry : classes_) map(entry.code);
    for (const auto& entry : decompositions_) map(entry.code);
    for (auto code = hangul_first; code < hangul_first + hangul_count; ++code) map(code);
    map(U'\u0130');
  }

  void mark(std::string_view table, Property property) {
    unicode_tables::for_each_code(table, [&](char32_t code) { properties_[code] |= property; });
  }

  /// Adds the characters that `set` lacks and removes those that it has.
  static void flip(std::vector<bool>& set, std::string_view table) {
    unicode_tables::for_each_code(table, [&](char32_t code) { set[code].flip(); });
  }

  void read_lower_case() {
    const auto runs = unicode_tables::numbers_of(unicode_tables::lower_case);
    std::int32_t code = 0;
    for (std::size_t i = 0; i < runs.size(); i += 4) {
      code += runs[i];
      for (std::int32_t k = 0; k < runs[i + 1]; ++k) {
        const auto upper = static_cast<char32_t>(code + k * runs[i + 2]);
        lower_.push_back({upper, upper + static_cast<char32_t>(runs[i + 3])});
      }
    }
  }

  void read_combining_classes() {
    const auto runs = unicode_tables::numbers_of(unicode_tables::combining_classes);
    std::int32_t code = 0;
    for (std::size_t i = 0; i < runs.size(); i += 3) {
      code += runs[i];
      for (std::int32_t k = 0; k < runs[i + 1]; ++k) {
        classes_.push_back(
            {static_cast<char32_t>(code + k), static_cast<std::uint8_t>(runs[i + 2])});
      }
    }
  }

  void read_decompositions() {
    const auto add = [&](char32_t code, std::span<const char32_t> parts) {
      CodePoints copy{{}, parts.size()};
      std::ranges::copy(parts, copy.values);
      decompositions_.push_back({code, copy});
    };
    unicode_tables::for_each_decomposition(unicode_tables::decompositions, add);
  }

  /// Decomposes a Hangul syllable into a leading consonant, a vowel and an optional trailing
  /// consonant (Unicode standard, section 3.12).
  static CodePoints decompose_hangul(char32_t code) noexcept {
    constexpr char32_t vowels = 21, trails = 28;
    const char32_t index = code - hangul_first;
    const char32_t trail = index % trails;
    return {{0x1100 + index / (vowels * trails), 0x1161 + index / trails % vowels, 0x11A7 + trail},
            trail == 0 ? 2u : 3u};
  }

  template <class T>
  const T* find(const std::vector<Entry<T>>& entries, char32_t code) const noexcept {
    if (!(properties_[code] & mapped)) return nullptr;
    const auto at = std::ranges::lower_bound(entries, code, {}, &Entry<T>::code);
    return at != entries.end() && at->code == code ? &at->value : nullptr;
  }

  std::vector<std::uint8_t> properties_;
  std::vector<Entry<char32_t>> lower_;
  std::vector<Entry<std::uint8_t>> classes_;
  std::vector<Entry<CodePoints>> decompositions_;
};

/// Tells whether a character has a property.
[[nodiscard]] inline bool has_property(char32_t code, CharacterTable::Property property) noexcept {
  return (CharacterTable::instance().properties(code) & property) != 0;
}

/// Returns whether the character is in `\s`, which is also the whitespace at which BERT splits.
[[nodiscard]] inline bool is_whitespace(char32_t code) noexcept {
  return has_property(code, CharacterTable::whitespace);
}

/// Returns whether BERT isolates the character: ASCII symbols, and category P of an older Unicode
/// version.
[[nodiscard]] inline bool is_punctuation(char32_t code) noexcept {
  return has_property(code, CharacterTable::punctuation);
}

/// Returns whether BERT's clean_text drops the character: categories Cc, Cf and Co except tab, line
/// feed and carriage return. U+0000 and U+FFFD, which it drops too, are not included.
[[nodiscard]] inline bool is_control(char32_t code) noexcept {
  return has_property(code, CharacterTable::control);
}

/// Returns whether BERT's handle_chinese_chars puts spaces around the character.
[[nodiscard]] inline bool is_ideograph(char32_t code) noexcept {
  return has_property(code, CharacterTable::ideograph);
}

/// Returns whether the character is in category Mn, which BERT's strip_accents drops.
[[nodiscard]] inline bool is_nonspacing_mark(char32_t code) noexcept {
  return has_property(code, CharacterTable::nonspacing_mark);
}

/// Returns whether the character is in `\w`. An added token with `single_word` must not touch one.
[[nodiscard]] inline bool is_word_character(char32_t code) {
  return CharacterTable::instance().words[code];
}

/// Returns whether the pre-tokenizer Digits isolates the character.
[[nodiscard]] inline bool is_numeric(char32_t code) {
  return CharacterTable::instance().numeric[code];
}

/// Returns whether the character is in category M, which the normalizer StripAccents drops.
[[nodiscard]] inline bool is_mark(char32_t code) {
  return CharacterTable::instance().marks[code];
}

/// Returns the lower case of a character, which may have several code points.
[[nodiscard]] inline CodePoints lower(char32_t code) noexcept {
  return CharacterTable::instance().lower(code);
}

/// Returns the NFD of one character. The NFD of a text joins those of its characters and then sorts
/// each run of characters of a `combining_class` above 0 stably by that class.
[[nodiscard]] inline CodePoints decompose(char32_t code) noexcept {
  return CharacterTable::instance().decompose(code);
}

/// Returns the canonical combining class of a character.
[[nodiscard]] inline std::uint8_t combining_class(char32_t code) noexcept {
  return CharacterTable::instance().combining_class(code);
}

}  // namespace seqtrain::text
