#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <openssl/evp.h>

#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/http/base64.hpp>

namespace seqtrain::gcs {

/// Returns a checksum as the service writes it: four bytes, the highest first, in base64.
inline std::string crc32c_text(Crc32c checksum) {
  const auto value = checksum.value();
  const char bytes[4] = {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
                         static_cast<char>(value >> 8), static_cast<char>(value)};
  return http::base64({bytes, 4});
}

/// Reads a checksum as the service writes it. Returns nothing if `text` is not one.
inline std::optional<Crc32c> parse_crc32c(std::string_view text) {
  if (text.size() != 8) return {};
  std::array<unsigned char, 6> bytes{};
  const auto* from = reinterpret_cast<const unsigned char*>(text.data());
  if (EVP_DecodeBlock(bytes.data(), from, 8) != 6) return {};
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | bytes[static_cast<std::size_t>(i)];
  const Crc32c checksum{value};
  if (crc32c_text(checksum) != text) return {};
  return checksum;
}

}  // namespace seqtrain::gcs
