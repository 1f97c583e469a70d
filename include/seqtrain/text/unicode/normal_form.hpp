#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/unicode_tables.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// The normal forms of Unicode.
enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// The compositions and compatibility decompositions that `CharacterTable` does not hold.
class NormalFormTable {
 public:
  static const NormalFormTable& instance() {
    static const NormalFormTable table;
    return table;
  }

  /// Appends the full decomposition of a character.
  void decompose(char32_t code, bool compatibility, std::u32string& out) const {
    if (code >= 0x80 && compatibility) {
      if (const auto found = compatibility_.find(code); found != compatibility_.end()) {
        out += found->second;
        return;
      }
    }
    for (const char32_t part : text::decompose(code)) out.push_back(part);
  }

  /// Returns the composition of two characters, or 0.
  [[nodiscard]] char32_t compose(char32_t first, char32_t second) const {
    constexpr char32_t leads = 0x1100, vowels = 0x1161, trails = 0x11A7, syllables = 0xAC00;
    if (first - leads < 19 && second - vowels < 21) {
      return syllables + ((first - leads) * 21 + (second - vowels)) * 28;
    }
    if (first - syllables < 11172 && (first - syllables) % 28 == 0 && second - trails - 1 < 27) {
      return first + (second - trails);
    }
    const auto found = compositions_.find(key(first, second));
    return found == compositions_.end() ? 0 : found->second;
  }

 private:
  static std::uint64_t key(char32_t first, char32_t second) noexcept {
    return std::uint64_t{first} << 32 | second;
  }

  NormalFormTable() {
    using namespace unicode_tables;
    for_each_decomposition(compatibility, [&](char32_t code, std::span<const char32_t> parts) {
      compatibility_.emplace(code, std::u32string{parts.begin(), parts.end()});
    });
    read_compositions();
  }

  /// A character with a decomposition is composed of its last part and what the others compose to.
  /// Shorter decompositions are read first.
  void read_compositions() {
    using namespace unicode_tables;
    std::unordered_set<char32_t> excluded;
    for_each_code(not_composed, [&](char32_t code) { excluded.insert(code); });
    for (std::size_t size = 2; size <= std::size(CodePoints{}.values); ++size) {
      for_each_decomposition(decompositions, [&](char32_t code, std::span<const char32_t> parts) {
        if (parts.size() != size || excluded.contains(code)) return;
        char32_t first = parts[0];
        for (const char32_t part : parts.first(size - 1).subspan(1)) first = compose(first, part);
        compositions_.emplace(key(first, parts.back()), code);
      });
    }
  }

  std::unordered_map<char32_t, std::u32string> compatibility_;
  std::unordered_map<std::uint64_t, char32_t> compositions_;
};

/// Writes texts in one of the four normal forms of the Unicode standard, section 3.11.
class NormalFormWriter {
 public:
  explicit NormalFormWriter(NormalForm form)
      : composes_{form == NormalForm::nfc || form == NormalForm::nfkc},
        compatibility_{form == NormalForm::nfkc || form == NormalForm::nfkd} {}

  /// A character of a normal form. `change` is 1 if the character is inserted, 0 if it replaces one
  /// character of the text, and -n if it replaces 1 + n characters.
  struct Part {
    char32_t code;
    int change;
  };

  /// Returns the normal form of `text`, which must be valid UTF-8, character by character.
  [[nodiscard]] std::vector<Part> parts(std::string_view text) {
    find_parts(text);
    return std::move(parts_);
  }

  /// Appends the normal form of `text`, which must be valid UTF-8. An ASCII character does not
  /// compose with what precedes it, so text between two neighbouring ASCII characters is copied.
  void append(std::string_view text, std::string& out) {
    for (std::size_t done = 0; done < text.size();) {
      const std::size_t wide = done + ascii_length(text.substr(done));
      if (wide == text.size()) return void(out += text.substr(done));
      const std::size_t begin = std::max(done + 1, wide) - 1;
      std::size_t end = wide;
      while (end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80) ++end;
      out += text.substr(done, begin - done);
      const auto stretch = text.substr(begin, end - begin);
      if (composes_ && !compatibility_ && is_composed(stretch)) {
        out += stretch;
      } else {
        find_parts(stretch);
        for (const Part& part : parts_) append_utf8(out, part.code);
      }
      done = end;
    }
  }

 private:
  /// Returns true only if a text equals its NFC. May return false for a text that does.
  static bool is_composed(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      const char32_t code = decode(text, i);
      if (code < 0x300) continue;
      if (code < 0x900 || (0x2000 <= code && code < 0x10000)) {
        if (has_property(code, CharacterTable::mapped)) return false;
        continue;
      }
      return false;
    }
    return true;
  }

  void find_parts(std::string_view text) {
    const NormalFormTable& table = NormalFormTable::instance();
    parts_.clear();
    for (std::size_t i = 0; i < text.size();) {
      codes_.clear();
      table.decompose(decode(text, i), compatibility_, codes_);
      int change = 0;
      for (const char32_t code : codes_) parts_.push_back({code, std::exchange(change, 1)});
    }
    order();
    if (composes_) compose(table);
  }

  /// Sorts each run of characters of a combining class above 0 by that class.
  void order() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (combining_class(parts_[i].code) == 0) continue;
      std::size_t end = i + 1;
      while (end < parts_.size() && combining_class(parts_[end].code) != 0) ++end;
      const auto at = [&](std::size_t k) {
        return parts_.begin() + static_cast<std::ptrdiff_t>(k);
      };
      std::stable_sort(at(i), at(end), [](const Part& a, const Part& b) {
        return combining_class(a.code) < combining_class(b.code);
      });
      i = end;
    }
  }

  /// Composes each character with the last starter, unless a character between them has an equal or
  /// higher combining class.
  void compose(const NormalFormTable& table) {
    constexpr auto none = static_cast<std::size_t>(-1);
    std::size_t starter = none;
    std::size_t size = 0;
    int last_class = -1;  ///< class of the last character after the starter; -1 if there is none
    for (const Part part : parts_) {
      const int rank = combining_class(part.code);
      if (starter != none && last_class < rank) {
        if (const char32_t composed = table.compose(parts_[starter].code, part.code)) {
          parts_[starter] = {composed, parts_[starter].change + part.change - 1};
          continue;
        }
      }
      if (rank == 0) {
        starter = size;
        last_class = -1;
      } else {
        last_class = rank;
      }
      parts_[size++] = part;
    }
    parts_.resize(size);
  }

  bool composes_;
  bool compatibility_;
  std::u32string codes_;  ///< decomposition of one character
  std::vector<Part> parts_;
};

}  // namespace seqtrain::text
