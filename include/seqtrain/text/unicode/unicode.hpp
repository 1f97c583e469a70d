#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <seqtrain/text/unicode/unicode_tables.hpp>

namespace seqtrain::text::unicode_tables {

/// Calls `use(code)` for each character of pairs (gap from the last start, length).
template <class Use>
void for_each_code(std::span<const std::int32_t> runs, Use&& use) {
  std::int32_t first = 0;
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    first += runs[i];
    for (std::int32_t k = 0; k < runs[i + 1]; ++k) use(static_cast<char32_t>(first + k));
  }
}

/// Calls `use(code, parts)` for each character of runs (gap from the last start, length, parts per
/// character, parts), with each part stored as its distance from the part at its place before.
template <class Use>
void for_each_decomposition(std::span<const std::int32_t> runs, Use&& use) {
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

  [[nodiscard]] bool is_word_character(char32_t code) const { return words_[code]; }
  [[nodiscard]] bool is_numeric(char32_t code) const { return numeric_[code]; }
  [[nodiscard]] bool is_mark(char32_t code) const { return marks_[code]; }

  /// Returns the lower case of a character by itself, so there is no final sigma. Only U+0130 gives
  /// more than one character.
  [[nodiscard]] CodePoints lower(char32_t code) const noexcept {
    if (code == U'\u0130') return {{U'i', U'\u0307'}, 2};
    const LowerCase* entry = find(lower_, code);
    return {{entry ? entry->lower : code}, 1};
  }

  /// Returns the full canonical decomposition (NFD) of one character.
  [[nodiscard]] CodePoints decompose(char32_t code) const noexcept {
    if (hangul_first <= code && code < hangul_first + hangul_count) return decompose_hangul(code);
    const Decomposition* entry = find(decompositions_, code);
    return entry ? entry->parts : CodePoints{{code}, 1};
  }

  /// Returns the canonical combining class. Marks between two characters of class 0 are sorted by
  /// it.
  [[nodiscard]] std::uint8_t combining_class(char32_t code) const noexcept {
    const CombiningClass* entry = find(classes_, code);
    return entry ? entry->value : std::uint8_t{0};
  }

 private:
  static constexpr char32_t hangul_first = 0xAC00;
  static constexpr char32_t hangul_count = 11172;

  struct LowerCase {
    char32_t code;
    char32_t lower;
  };
  struct Decomposition {
    char32_t code;
    CodePoints parts;
  };
  struct CombiningClass {
    char32_t code;
    std::uint8_t value;
  };

  CharacterTable() : properties_(0x110000), words_(0x110000), numeric_(0x110000), marks_(0x110000) {
    using namespace unicode_tables;
    mark(letters, letter);
    mark(numbers, number);
    mark(unicode_tables::whitespace, whitespace);
    mark(unicode_tables::punctuation, punctuation);
    mark(controls, control);
    mark(ideographs, ideograph);
    mark(nonspacing_marks, nonspacing_mark);
    flip(marks_, nonspacing_marks);
    flip(marks_, mark_differences);
    words_ = marks_;
    flip(words_, letters);
    flip(words_, numbers);
    flip(words_, word_differences);
    flip(numeric_, numbers);
    flip(numeric_, numeric_differences);
    read_lower_case();
    read_combining_classes();
    read_decompositions();
    for (const auto& entry : lower_) properties_[entry.code] |= mapped;
    for (const auto& entry : classes_) properties_[entry.code] |= mapped;
    for (const auto& entry : decompositions_) properties_[entry.code] |= mapped;
    for (auto code = hangul_first; code < hangul_first + hangul_count; ++code) {
      properties_[code] |= mapped;
    }
    properties_[U'\u0130'] |= mapped;
  }

  void mark(std::span<const std::int32_t> runs, Property property) {
    unicode_tables::for_each_code(runs, [&](char32_t code) { properties_[code] |= property; });
  }

  /// Adds the characters that `set` lacks and removes those that it has.
  static void flip(std::vector<bool>& set, std::span<const std::int32_t> runs) {
    unicode_tables::for_each_code(runs, [&](char32_t code) { set[code].flip(); });
  }

  void read_lower_case() {
    const std::span<const std::int32_t> runs{unicode_tables::lower_case};
    std::int32_t code = 0;
    for (std::size_t i = 0; i < runs.size(); i += 4) {
      code += runs[i];
      for (std::int32_t k = 0; k < runs[i + 1]; ++k) {
        const std::int32_t upper = code + k * runs[i + 2];
        lower_.push_back(
            {static_cast<char32_t>(upper), static_cast<char32_t>(upper + runs[i + 3])});
      }
    }
  }

  void read_combining_classes() {
    const std::span<const std::int32_t> runs{unicode_tables::combining_classes};
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

  template <class Entry>
  const Entry* find(const std::vector<Entry>& entries, char32_t code) const noexcept {
    if (!(properties_[code] & mapped)) return nullptr;
    const auto at = std::ranges::lower_bound(entries, code, {}, &Entry::code);
    return at != entries.end() && at->code == code ? &*at : nullptr;
  }

  std::vector<std::uint8_t> properties_;
  std::vector<bool> words_;
  std::vector<bool> numeric_;
  std::vector<bool> marks_;
  std::vector<LowerCase> lower_;
  std::vector<CombiningClass> classes_;
  std::vector<Decomposition> decompositions_;
};

[[nodiscard]] inline bool has_property(char32_t code, CharacterTable::Property property) noexcept {
  return (CharacterTable::instance().properties(code) & property) != 0;
}

[[nodiscard]] inline bool is_number(char32_t code) noexcept {
  return has_property(code, CharacterTable::number);
}

/// Returns whether the character is in \s, which is also the whitespace at which BERT splits.
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

/// Returns whether the character is in \w. An added token with `single_word` must not touch one.
[[nodiscard]] inline bool is_word_character(char32_t code) {
  return CharacterTable::instance().is_word_character(code);
}

/// Returns whether the pre-tokenizer Digits isolates the character.
[[nodiscard]] inline bool is_numeric(char32_t code) {
  return CharacterTable::instance().is_numeric(code);
}

/// Returns whether the character is in category M, which the normalizer StripAccents drops.
[[nodiscard]] inline bool is_mark(char32_t code) {
  return CharacterTable::instance().is_mark(code);
}

[[nodiscard]] inline CodePoints lower(char32_t code) noexcept {
  return CharacterTable::instance().lower(code);
}

/// Returns the NFD of one character. The NFD of a text joins those of its characters and then sorts
/// each run of characters of a `combining_class` above 0 stably by that class.
[[nodiscard]] inline CodePoints decompose(char32_t code) noexcept {
  return CharacterTable::instance().decompose(code);
}

[[nodiscard]] inline std::uint8_t combining_class(char32_t code) noexcept {
  return CharacterTable::instance().combining_class(code);
}

}  // namespace seqtrain::text
