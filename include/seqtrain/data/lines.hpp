#pragma once

#include <cstddef>
#include <string_view>

namespace seqtrain::data {

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
