#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <seqtrain/log/format.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::page::html {

namespace detail {

inline void append_character(std::string& out, std::string_view character) {
  const char c = character[0];
  const auto byte = static_cast<unsigned char>(c);
  if (c == '&') return void(out += "&amp;");
  if (c == '<') return void(out += "&lt;");
  if (c == '>') return void(out += "&gt;");
  if (c == '"') return void(out += "&quot;");
  if (c == '\n' || c == '\t') return void(out += c);
  std::size_t end = 0;
  const char32_t code = text::decode(character, end);
  if (byte < 0x20)
    return text::append_utf8(out, 0x2400 + code);  // the character's symbol, such as ␀
  if (byte == 0x7F) return text::append_utf8(out, 0x2421);
  const bool is_control = code >= 0x80 && code < 0xA0;
  const bool is_none = (code & 0xFFFE) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF);
  if (is_control || is_none) return text::append_utf8(out, 0xFFFD);
  out += character;
}

}  // namespace detail

/// Returns text escaped for HTML, between tags or in quotes. A carriage return is a line break, and
/// with a line feed one line break. Other control characters become visible, and bytes that are not
/// UTF-8 become U+FFFD.
[[nodiscard]] inline std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  while (!text.empty()) {
    if (text[0] == '\r') {
      text.remove_prefix(1);
      if (!text.starts_with('\n')) out += '\n';
      continue;
    }
    const std::size_t size = text::well_formed_prefix(text);
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      detail::append_character(out, text.substr(0, size));
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

/// Returns a text cut to at most `bytes` bytes of whole characters, with … at the end if it was
/// cut.
[[nodiscard]] inline std::string cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string{text};
  while (bytes > 0 && text::is_continuation(text[bytes])) --bytes;
  return std::string{text.substr(0, bytes)} + "…";
}

/// Returns a number with at most `digits` digits and no zeros at its end; – for NaN.
[[nodiscard]] inline std::string number(double value, int digits = 4) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, digits)
                       .ptr;
  return {text.data(), end};
}

/// Returns a whole number with commas between thousands.
[[nodiscard]] inline std::string count(std::int64_t value) {
  const std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

/// Returns ` name="value"`, with a space before it and the value escaped.
[[nodiscard]] inline std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string{name} + "=\"" + escaped(value) + "\"";
}

/// Returns `<name>text</name>` with the text escaped.
[[nodiscard]] inline std::string element(const std::string& name, std::string_view text) {
  return "<" + name + ">" + escaped(text) + "</" + name + ">";
}

}  // namespace seqtrain::page::html
