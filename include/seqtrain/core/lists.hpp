#pragma once

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace seqtrain {

/// Returns the parts of a text between separators, of which there is at least one. Parts may be
/// empty.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Splits a text at its commas, apart from those after a backslash, as `joined_at_commas` writes
/// them. The result is empty if the text is.
[[nodiscard]] inline std::vector<std::string> split_at_commas(std::string_view text) {
  if (text.empty()) return {};
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_last = i + 1 == text.size();
    const bool escapes = text[i] == '\\' && !is_last && (text[i + 1] == ',' || text[i + 1] == '\\');
    if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[escapes ? ++i : i];
    }
  }
  return parts;
}

/// Returns the parts with commas between them. A comma or a backslash in a part has a backslash
/// before it.
[[nodiscard]] inline std::string joined_at_commas(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) {
    if (&part != &parts.front()) text += ',';
    for (const char c : part) {
      if (c == ',' || c == '\\') text += '\\';
      text += c;
    }
  }
  return text;
}

/// Returns the texts with commas between them, for messages, and `last`, such as " or ", before the
/// last one.
template <std::ranges::forward_range Texts>
[[nodiscard]] std::string joined(const Texts& texts, std::string_view last = ", ") {
  std::string list;
  auto left = std::ranges::distance(texts);
  for (const std::string_view text : texts) {
    list.append(text);
    if (--left > 0) list.append(left == 1 ? last : ", ");
  }
  return list;
}

}  // namespace seqtrain
