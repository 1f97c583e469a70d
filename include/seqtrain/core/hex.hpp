#pragma once

#include <span>
#include <string>
#include <string_view>

namespace seqtrain {

/// Returns two lower-case hexadecimal digits for each byte.
[[nodiscard]] inline std::string hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

}  // namespace seqtrain
