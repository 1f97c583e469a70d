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
