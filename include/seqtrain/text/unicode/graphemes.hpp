#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/unicode_tables.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Finds the ends of extended grapheme clusters (Unicode Standard Annex 29, rules GB3 to GB13).
class Graphemes {
 public:
  static const Graphemes& instance() {
    static const Graphemes table;
    return table;
  }

  /// Returns the end of the cluster that begins at `begin`. `text` must be valid UTF-8.
  [[nodiscard]] std::size_t end(std::string_view text, std::size_t begin) const {
    std::size_t position = begin;
    State state;
    char32_t last = decode(text, position);
    state.enter(at(last), last);
    while (position < text.size()) {
      std::size_t next = position;
      const char32_t code = decode(text, next);
      if (breaks(last, code, state)) break;
      state.enter(at(code), code);
      last = code;
      position = next;
    }
    return position;
  }

  /// Returns whether a cluster may continue from the first to the second character if nothing comes
  /// before.
  [[nodiscard]] bool joins(char32_t first, char32_t second) const {
    State state;
    state.enter(at(first), first);
    return !breaks(first, second, state);
  }

 private:
  enum Class : std::uint8_t {
    prepend = 1,
    extend = 2,
    spacing = 4,
    control = 8,
    pictograph = 16,
    consonant = 32,
    linker = 64,
    conjunct_extend = 128,
  };
  static constexpr char32_t joiner = 0x200D;

  /// The context that the rules for emoji, Indic conjuncts and flags need.
  struct State {
    bool pictograph_then_extends = false;
    bool joined_pictograph = false;
    bool after_consonant = false;
    bool after_linker = false;
    std::size_t flags = 0;

    void enter(std::uint8_t kind, char32_t code) {
      joined_pictograph = pictograph_then_extends && code == joiner;
      const bool extends = pictograph_then_extends && (kind & extend) != 0;
      pictograph_then_extends = extends || (kind & pictograph) != 0;
      if (kind & consonant) {
        after_consonant = true;
        after_linker = false;
      } else if (after_consonant && (kind & (linker | conjunct_extend))) {
        after_linker = after_linker || (kind & linker);
      } else {
        after_consonant = after_linker = false;
      }
      flags = is_flag(code) ? flags + 1 : 0;
    }
  };

  static bool is_flag(char32_t code) noexcept { return 0x1F1E6 <= code && code <= 0x1F1FF; }

  enum class Hangul { none, lead, vowel, trail, open, closed };
  static Hangul hangul(char32_t code) noexcept {
    if (code < 0x1100 || code > 0xD7FB) return Hangul::none;
    const auto within = [&](char32_t first, char32_t last) {
      return first <= code && code <= last;
    };
    if (within(0xAC00, 0xD7A3)) return (code - 0xAC00) % 28 == 0 ? Hangul::open : Hangul::closed;
    if (within(0x1100, 0x115F) || within(0xA960, 0xA97C)) return Hangul::lead;
    if (within(0x1160, 0x11A7) || within(0xD7B0, 0xD7C6)) return Hangul::vowel;
    return within(0x11A8, 0x11FF) || within(0xD7CB, 0xD7FB) ? Hangul::trail : Hangul::none;
  }

  static bool joins_hangul(char32_t last, char32_t code) noexcept {
    const Hangul before = hangul(last);
    const Hangul after = hangul(code);
    if (before == Hangul::none || after == Hangul::none) return false;
    if (before == Hangul::lead) return after != Hangul::trail;
    if (after == Hangul::trail) return true;
    return after == Hangul::vowel && (before == Hangul::open || before == Hangul::vowel);
  }

  [[nodiscard]] bool breaks(char32_t last, char32_t code, const State& state) const {
    if (last == U'\r' && code == U'\n') return false;
    if ((at(last) | at(code)) & control) return true;
    if (at(code) & (extend | spacing)) return false;
    if (at(last) & prepend) return false;
    if (joins_hangul(last, code)) return false;
    if (state.after_linker && (at(code) & consonant)) return false;
    if (state.joined_pictograph && (at(code) & pictograph)) return false;
    return !(is_flag(code) && state.flags % 2 == 1);
  }

  [[nodiscard]] std::uint8_t at(char32_t code) const noexcept { return classes_[code]; }

  Graphemes() : classes_(0x110000) {
    using namespace unicode_tables;
    flip(grapheme_prepends, prepend);
    flip(grapheme_extends, extend);
    flip(grapheme_spacing, spacing);
    flip(grapheme_controls, control);
    flip(pictographs, pictograph);
    flip(conjunct_consonants, consonant);
    flip(conjunct_linkers, linker);
    flip(grapheme_extends, conjunct_extend);
    flip(conjunct_differences, conjunct_extend);
  }

  void flip(std::string_view table, Class kind) {
    unicode_tables::for_each_code(table, [&](char32_t code) { classes_[code] ^= kind; });
  }

  std::vector<std::uint8_t> classes_;
};

}  // namespace seqtrain::text
