#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// BERT's normalizer as in Hugging Face's package. In this order it drops control characters,
/// U+0000 and U+FFFD and turns whitespace into spaces; puts spaces around ideographs; strips
/// accents, i.e. decomposes canonically and drops nonspacing marks (which also splits Hangul
/// syllables); and lowers the case.
struct BertNormalizer {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool lowercase = true;
  std::optional<bool> strip_accents = {};  ///< follows `lowercase` if it has no value

  [[nodiscard]] bool strips_accents() const noexcept { return strip_accents.value_or(lowercase); }

  /// Appends the normal form of `text`, which must be valid UTF-8.
  void normalize(std::string_view text, std::string& out) const {
    Marks marks;
    for (std::size_t i = 0; i < text.size();) add(decode(text, i), marks, out);
    flush(marks, out);
  }

 private:
  struct Mark {
    char32_t code;
    std::uint8_t combining_class;
  };
  using Marks = std::vector<Mark>;  ///< marks that are not yet in canonical order

  void add(char32_t code, Marks& marks, std::string& out) const {
    if (clean_text) {
      if (code == 0 || code == 0xFFFD || is_control(code)) return;
      if (is_whitespace(code)) code = U' ';
    }
    const bool apart = handle_chinese_chars && is_ideograph(code);
    if (apart) add_unaccented(U' ', marks, out);
    add_unaccented(code, marks, out);
    if (apart) add_unaccented(U' ', marks, out);
  }

  void add_unaccented(char32_t code, Marks& marks, std::string& out) const {
    if (!strips_accents()) return add_lower(code, out);
    for (const char32_t part : decompose(code)) {
      const std::uint8_t order = combining_class(part);
      if (order == 0) flush(marks, out);
      if (is_nonspacing_mark(part)) continue;
      order == 0 ? add_lower(part, out) : marks.push_back({part, order});
    }
  }

  void flush(Marks& marks, std::string& out) const {
    if (marks.empty()) return;
    std::ranges::stable_sort(marks, {}, &Mark::combining_class);
    for (const Mark& mark : marks) add_lower(mark.code, out);
    marks.clear();
  }

  void add_lower(char32_t code, std::string& out) const {
    if (!lowercase) return append_utf8(out, code);
    for (const char32_t part : lower(code)) append_utf8(out, part);
  }
};

}  // namespace seqtrain::text
