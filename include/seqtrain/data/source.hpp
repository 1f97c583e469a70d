#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::data {

/// A text and its name in errors. The bytes are not owned.
struct Source {
  std::string_view text;
  std::string name;
  std::int64_t first_line = 1;  ///< the number of the text's first line
  bool may_have_mark = true;    ///< a byte order mark in line 1 is skipped

  /// Returns the number of the line in which `part` begins. `part` must belong to the text.
  [[nodiscard]] std::int64_t line_of(std::string_view part) const {
    return first_line + std::count(text.data(), part.data(), '\n');
  }

  /// Makes an error at `part` of the text.
  [[nodiscard]] InputError error(const std::string& problem, std::string_view part,
                                 std::string field = {}, const std::string& advice = {}) const {
    return InputError{
        problem, {.object = name, .line = line_of(part), .field = std::move(field)}, advice};
  }

  /// Throws `InputError` with the line of the first byte in `part` that is not UTF-8.
  void demand_utf8(std::string_view part) const {
    if (const auto invalid = text::first_invalid(part)) {
      const bool has_mark = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
      const bool utf16 = has_mark && line_of(part.substr(*invalid)) == 1;
      throw error("not valid UTF-8", part.substr(*invalid), {},
                  std::string{"convert the file: iconv -f "} + (utf16 ? "UTF-16" : "WINDOWS-1252") +
                      " -t UTF-8 old > new");
    }
  }
};

/// Takes the first line off `text` and returns it without its line end, LF or CRLF.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Tells whether a line holds only whitespace.
[[nodiscard]] inline bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Returns the number of bytes of `text` up to and including the first line end at or after
/// `wanted`.
[[nodiscard]] inline std::size_t whole_lines(std::string_view text, std::size_t wanted) {
  const std::size_t end = text.find('\n', wanted);
  return end == std::string_view::npos ? text.size() : end + 1;
}

}  // namespace seqtrain::data
