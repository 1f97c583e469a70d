#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>

namespace seqtrain::json {

/// Appends `text` between quotes, escaped. Bytes above 0x7f stay as they are.
inline void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20) {
      out += "\\u00";
      out += hex[byte >> 4];
      out += hex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Writes a JSON text from front to back. It writes the commas, and line breaks if `indent` is
/// above 0. Each number has the fewest digits that read back to the same value. NaN and infinity
/// become null, because JSON does not have them.
class Writer {
 public:
  explicit Writer(int indent = 0) : indent_{indent} {}

  Writer& begin_object() { return open('{'); }
  Writer& end_object() { return close('}'); }
  Writer& begin_array() { return open('['); }
  Writer& end_array() { return close(']'); }

  /// Writes the name of a member; its value has to follow.
  Writer& key(std::string_view name) {
    separate();
    append_quoted(text_, name);
    text_ += indent_ > 0 ? ": " : ":";
    after_key_ = true;
    return *this;
  }

  /// Writes a text as a string.
  Writer& value(std::string_view text) {
    separate();
    append_quoted(text_, text);
    return *this;
  }
  /// Writes a text as a string.
  Writer& value(const char* text) { return value(std::string_view{text}); }
  /// Writes true or false.
  Writer& value(bool truth) { return raw(truth ? "true" : "false"); }

  /// Writes a number.
  template <class T>
  requires(std::integral<T> || std::floating_point<T>) Writer& value(T number) {
    if constexpr (std::floating_point<T>) {
      if (!std::isfinite(number)) return null();
    }
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return raw({digits, static_cast<std::size_t>(end - digits)});
  }

  /// Writes an array of the values in a range.
  template <std::ranges::input_range Range>
  requires(!std::convertible_to<const Range&, std::string_view> &&
           !std::same_as<std::ranges::range_value_t<Range>, Range>)  // as of a path
      Writer& value(const Range& values) {
    begin_array();
    for (const auto& each : values) value(each);
    return end_array();
  }

  Writer& null() { return raw("null"); }

  /// Writes `text`, which must be one JSON value.
  Writer& raw(std::string_view text) {
    separate();
    text_ += text;
    return *this;
  }

  /// Writes the name of a member and its value.
  template <class T>
  Writer& member(std::string_view name, const T& content) {
    key(name);
    return value(content);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Writer& open(char bracket) {
    separate();
    text_ += bracket;
    ++depth_;
    first_ = true;
    return *this;
  }

  Writer& close(char bracket) {
    --depth_;
    if (!first_) new_line();
    text_ += bracket;
    first_ = false;
    return *this;
  }

  void separate() {
    if (!after_key_) {
      if (!first_) text_ += ',';
      if (depth_ > 0) new_line();
    }
    after_key_ = first_ = false;
  }

  void new_line() {
    if (indent_ == 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_ * depth_), ' ');
  }

  std::string text_;
  int indent_;
  int depth_ = 0;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace seqtrain::json
