#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <seqtrain/text/normalizers/bert_normalizer.hpp>
#include <seqtrain/text/normalizers/character_map.hpp>
#include <seqtrain/text/unicode/normal_form.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::text {

/// Converts to NFC, NFD, NFKC or NFKD.
struct UnicodeNormalizer {
  NormalForm form = NormalForm::nfc;
  void normalize(std::string_view text, std::string& out) const {
    NormalFormWriter{form}.append(text, out);
  }
  /// Tells whether the text is known to be in the normal form.
  [[nodiscard]] bool keeps(std::string_view text) const noexcept {
    return ascii_length(text) == text.size();
  }
};

/// Lowers the case of each character alone.
struct Lowercase {
  void normalize(std::string_view text, std::string& out) const {
    for (std::size_t i = 0; i < text.size();) {
      for (const char32_t part : lower(decode(text, i))) append_utf8(out, part);
    }
  }
};

/// Drops marks (Unicode category M). It does not decompose characters first.
struct StripAccents {
  void normalize(std::string_view text, std::string& out) const {
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t begin = i;
      if (!is_mark(decode(text, i))) out += text.substr(begin, i - begin);
    }
  }
};

/// Drops whitespace at the ends of a text.
struct StripWhitespace {
  bool left = true;
  bool right = true;

  void normalize(std::string_view text, std::string& out) const {
    std::size_t begin = 0;
    std::size_t end = text.size();
    for (std::size_t i = 0; left && i < text.size() && is_whitespace(decode(text, i));) begin = i;
    while (right && begin < end) {
      std::size_t last = end - 1;
      while (is_continuation(text[last])) --last;
      std::size_t i = last;
      if (!is_whitespace(decode(text, i))) break;
      end = last;
    }
    out += text.substr(begin, end - begin);
  }
};

/// Replaces the matches of a pattern: a string, or one of the two regular expressions that
/// published tokenizers use.
struct Replace {
  /// A string of one's own, or a regular expression of published tokenizers.
  enum class Pattern { text, spaces, blanks };
  static constexpr std::string_view spaces_regex = " {2,}";
  static constexpr std::string_view blanks_regex = R"(\s{2,}|[\n\r\t])";

  Pattern pattern = Pattern::text;
  std::string text_pattern = {};  ///< empty if the pattern is a regular expression
  std::string content = {};

  void normalize(std::string_view text, std::string& out) const {
    std::size_t done = 0;
    for (std::size_t i = 0; i < text.size();) {
      if (const std::size_t size = match(text, i)) {
        out += text.substr(done, i - done);
        out += content;
        done = i += size;
      } else {
        i += utf8_length(text[i]);
      }
    }
    out += text.substr(done);
  }

  /// Returns the length in bytes of the match at `i`, or 0.
  [[nodiscard]] std::size_t match(std::string_view text, std::size_t i) const {
    if (pattern == Pattern::text) {
      return text.substr(i).starts_with(text_pattern) ? text_pattern.size() : 0;
    }
    std::size_t end = i;
    std::size_t count = 0;
    for (std::size_t next = i; next < text.size(); end = next, ++count) {
      const char32_t code = decode(text, next);
      if (pattern == Pattern::spaces ? code != U' ' : !is_whitespace(code)) break;
    }
    if (count >= 2) return end - i;
    const char c = text[i];
    return pattern == Pattern::blanks && (c == '\n' || c == '\r' || c == '\t') ? 1 : 0;
  }
};

/// Puts a string before a text that is not empty.
struct Prepend {
  std::string text = {};
  void normalize(std::string_view input, std::string& out) const {
    if (!input.empty()) out += text;
    out += input;
  }
};

/// Any of the normalizers, chosen at run time.
using Normalizer = std::variant<BertNormalizer, UnicodeNormalizer, Lowercase, StripAccents,
                                StripWhitespace, Replace, CharacterMap, Prepend>;

/// Runs normalizers one after the other.
class NormalizerSequence {
 public:
  NormalizerSequence() = default;
  explicit NormalizerSequence(std::vector<Normalizer> parts) : parts_{std::move(parts)} {}

  /// Returns the normal form of `text`: a view of the text itself or of one of the two buffers.
  std::string_view normalize(std::string_view text, std::string& buffer, std::string& other) const {
    for (const Normalizer& part : parts_) {
      if (const auto* form = std::get_if<UnicodeNormalizer>(&part); form && form->keeps(text)) {
        continue;
      }
      other.clear();
      std::visit([&](const auto& one) { one.normalize(text, other); }, part);
      std::swap(buffer, other);
      text = buffer;
    }
    return text;
  }

  [[nodiscard]] const std::vector<Normalizer>& parts() const noexcept { return parts_; }

 private:
  std::vector<Normalizer> parts_;
};

}  // namespace seqtrain::text
