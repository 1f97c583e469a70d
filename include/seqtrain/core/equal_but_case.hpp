#pragma once

#include <algorithm>
#include <string_view>

namespace seqtrain {

/// Tells whether two texts are equal if the case of ASCII letters does not count.
[[nodiscard]] constexpr bool equal_but_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace seqtrain
