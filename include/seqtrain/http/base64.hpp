#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <openssl/evp.h>

namespace seqtrain::http {

/// Encodes bytes in base64 with padding (RFC 4648, section 4).
inline std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const auto length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                      reinterpret_cast<const unsigned char*>(bytes.data()),
                                      static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// Encodes an unsigned number's bytes, the highest first, in base64: the form of storage services'
/// checksums.
template <std::unsigned_integral T>
std::string base64_of(T number) {
  std::string bytes;
  for (std::size_t i = sizeof number; i-- > 0;) bytes += static_cast<char>(number >> (8 * i));
  return base64(bytes);
}

/// Encodes bytes in the alphabet for URLs without padding (RFC 4648, section 5), as a JWT needs it.
inline std::string base64url(std::string_view bytes) {
  auto text = base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(std::find(text.begin(), text.end(), '='), text.end());
  return text;
}

}  // namespace seqtrain::http
