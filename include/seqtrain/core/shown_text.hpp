#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace seqtrain {

namespace detail {

/// Returns the number of bytes at the front of a text that are an invisible character beyond ASCII:
/// a control character, a separator of lines, a blank of another width than the space, a blank
/// without width or a byte order mark. Returns 0 if there is none. Sets `code` to the character.
constexpr std::size_t invisible_at(std::string_view text, unsigned& code) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
  };
  if (byte(0) == 0xC2) {
    code = byte(1);  // U+0080 to U+00BF
    return code >= 0x80 && code <= 0xA0 ? 2 : 0;
  }
  if ((byte(1) & 0xC0) != 0x80 || (byte(2) & 0xC0) != 0x80) return 0;
  code = (byte(0) & 0xF) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  if (byte(0) == 0xE2) {
    const bool blank = code >= 0x2000 && code <= 0x200B;
    return blank || code == 0x2028 || code == 0x2029 || code == 0x202F ? 3 : 0;
  }
  if (byte(0) == 0xE3) return code == 0x3000 ? 3 : 0;
  return byte(0) == 0xEF && code == 0xFEFF ? 3 : 0;
}

}  // namespace detail

/// Returns a text for a line or a cell of a table: a line break is shown as `\n`, a tab as `\t`,
/// and other characters that cannot be seen as their code, such as `\u00a0`. All else, a backslash
/// included, stays as it is.
[[nodiscard]] inline std::string shown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    unsigned code = byte;
    std::size_t size = 1;
    const bool is_control = byte < 0x20 || byte == 0x7F;
    const std::size_t invisible = is_control ? 1 : detail::invisible_at(text, code);
    if (byte == '\n' || byte == '\t' || byte == '\r') {
      out += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : "\\r";
    } else if (invisible > 0) {
      size = invisible;
      char escape[16];
      std::snprintf(escape, sizeof escape, "\\u%04x", is_control ? byte : code);
      out += escape;
    } else {
      out += text[0];
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace seqtrain
