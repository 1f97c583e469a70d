#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::report {

/// Returns a number as Python's `repr` writes it: `0.5`, `3.0`, `1e-05`, `1e+16`, `nan`, `-inf`.
inline std::string python_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;
  char* const begin = buffer.data();
  const auto scientific =
      std::to_chars(begin, begin + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text{begin, static_cast<std::size_t>(scientific.ptr - begin)};
  const int exponent = std::atoi(std::string{text.substr(text.find('e') + 1)}.c_str());
  if (exponent < -4 || exponent >= 16) return std::string{text};
  std::array<char, 40> plain;
  const auto end =
      std::to_chars(plain.data(), plain.data() + plain.size(), value, std::chars_format::fixed).ptr;
  std::string digits{plain.data(), end};
  return digits.find('.') == std::string::npos ? digits + ".0" : digits;
}

namespace detail {

inline void append_utf16_escape(std::string& out, std::uint32_t unit) {
  std::array<char, 8> escape;
  std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(unit & 0xffff));
  out += escape.data();
}

inline void append_python_escape(std::string& out, char32_t code) {
  constexpr std::string_view named = "\"\\\b\f\n\r\t";
  constexpr std::string_view letters = "\"\\bfnrt";
  const auto place = code < 0x80 ? named.find(static_cast<char>(code)) : std::string_view::npos;
  if (place != std::string_view::npos) {
    (out += '\\') += letters[place];
  } else if (code >= 0x20 && code < 0x7f) {
    out += static_cast<char>(code);
  } else if (code < 0x10000) {
    append_utf16_escape(out, code);
  } else {
    append_utf16_escape(out, 0xd7c0 + (code >> 10));
    append_utf16_escape(out, 0xdc00 + (code & 0x3ff));
  }
}

}  // namespace detail

/// Returns text between quotes as Python's `json.dumps` writes it, in ASCII. A byte that is not
/// UTF-8 becomes `\udc80` to `\udcff`, as in a string that Python reads from the environment.
inline std::string python_quoted(std::string_view bytes) {
  std::string out = "\"";
  for (std::size_t i = 0; i < bytes.size();) {
    if (text::well_formed_prefix(bytes.substr(i)) > 0) {
      detail::append_python_escape(out, text::decode(bytes, i));
    } else {
      detail::append_utf16_escape(out, 0xdc00U + static_cast<unsigned char>(bytes[i++]));
    }
  }
  return out += '"';
}

}  // namespace seqtrain::report
