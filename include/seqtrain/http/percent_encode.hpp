#pragma once

#include <string>
#include <string_view>

namespace seqtrain::http {

/// Replaces every byte but letters, digits and `-._~` by `%XX` (RFC 3986), as one segment of a path
/// or a value in a query needs it.
inline std::string percent_encode(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (plain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += {'%', hex[byte >> 4], hex[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace seqtrain::http
