#pragma once

#include <ranges>
#include <string>
#include <string_view>

namespace seqtrain {

/// Returns the texts with commas between them, for messages.
template <std::ranges::input_range Texts>
[[nodiscard]] std::string joined(const Texts& texts) {
  std::string list;
  std::string_view before;
  for (const std::string_view text : texts) {
    list.append(before).append(text);
    before = ", ";
  }
  return list;
}

}  // namespace seqtrain
