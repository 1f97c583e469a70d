#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/text/unicode/normal_form.hpp>
#include <seqtrain/text/unicode/unicode.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::data {

namespace detail {

/// Returns the number if all of `text` is a finite number: 1, -2.5, 1e3.
inline std::optional<double> decimal_number(std::string_view text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Returns the number if the value of `text` is an integer: 1 for 1, 01 and 1.0.
inline std::optional<std::int64_t> whole_value(std::string_view text) {
  if (const auto number = parse_number<std::int64_t>(text)) return number;
  const auto number = decimal_number(text);
  if (!number || std::trunc(*number) != *number || std::abs(*number) > 1e15) return {};
  return static_cast<std::int64_t>(*number);
}

/// Tells whether a character at the edge of a label cannot be seen: a blank of any width, a control
/// character or a byte order mark.
inline bool is_edge(char32_t code) {
  if (code < 0x80) return code <= ' ' || code == 0x7F;
  return text::is_whitespace(code) || text::is_control(code);
}

}  // namespace detail

/// Returns a label without the blanks and the control characters around it. A label that is not
/// UTF-8 is returned as it is.
[[nodiscard]] inline std::string_view trimmed_label(std::string_view label) {
  if (!text::is_valid_utf8(label)) return label;
  std::size_t begin = label.size(), end = 0;
  for (std::size_t i = 0; i < label.size();) {
    const std::size_t at = i;
    if (detail::is_edge(text::decode(label, i))) continue;
    if (begin == label.size()) begin = at;
    end = i;
  }
  return label.substr(begin, end > begin ? end - begin : 0);
}

/// Returns a text that two labels have in common if they differ only in case, in blanks around
/// them, in how Unicode composes their letters or in how a whole number is written: `good` for
/// `Good `, `1` for `1.0` and `01`. A label that is not UTF-8 is its own key.
[[nodiscard]] inline std::string label_key(std::string_view label) {
  if (!text::is_valid_utf8(label)) return std::string{label};
  label = trimmed_label(label);
  if (const auto number = detail::whole_value(label)) return std::to_string(*number);
  std::string key;
  if (text::ascii_length(label) == label.size()) {
    for (const char c : label) key += c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
    return key;
  }
  std::string composed;
  text::NormalFormWriter{text::NormalForm::nfc}.append(label, composed);
  for (std::size_t i = 0; i < composed.size();) {
    for (const char32_t code : text::lower(text::decode(composed, i))) {
      text::append_utf8(key, code);
    }
  }
  return key;
}

}  // namespace seqtrain::data
