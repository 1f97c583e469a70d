#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <simdjson.h>

namespace seqtrain::json {

namespace detail {

/// Writes integers of more than 18 digits as floating-point numbers, because the parser rejects
/// integers beyond 64 bits, and Hugging Face's files write 10^30 for "no limit".
[[nodiscard]] inline std::string with_wide_integers(std::string_view text) {
  constexpr std::string_view number = "+-.0123456789Ee";
  std::string out;
  bool inside_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end =
        inside_string ? i : std::min(text.find_first_not_of(number, i), text.size());
    if (end > i) {
      const auto digits = text.substr(i, end - i);
      out += digits;
      if (digits.size() > 18 && digits.find_first_of(".Ee") == digits.npos) out += "e0";
      i = end;
    } else {
      if (inside_string && text[i] == '\\' && i + 1 < text.size())
        out.push_back(text[i++]);
      else if (text[i] == '"')
        inside_string = !inside_string;
      out.push_back(text[i++]);
    }
  }
  return out;
}

}  // namespace detail

/// Parses a text into a document of the parser. Integers beyond 64 bits become floating-point
/// numbers. A byte order mark is an error, although newer versions of simdjson skip it. `padded`
/// says that `simdjson::SIMDJSON_PADDING` bytes after the text may be read.
[[nodiscard]] inline simdjson::error_code parse(simdjson::dom::parser& parser,
                                                std::string_view text, bool padded,
                                                simdjson::dom::element& root) {
  if (text.empty()) return simdjson::EMPTY;  // Its pointer may be null, which simdjson copies from.
  if (text.starts_with("\xEF\xBB\xBF")) return simdjson::TAPE_ERROR;
  const auto code = parser.parse(text.data(), text.size(), !padded).get(root);
  if (code == simdjson::SUCCESS) return code;
  const simdjson::padded_string other{detail::with_wide_integers(text)};
  return parser.parse(other).get(root);
}

}  // namespace seqtrain::json
