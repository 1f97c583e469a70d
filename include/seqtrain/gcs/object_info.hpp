#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <openssl/evp.h>

#include <seqtrain/core/crc32c.hpp>
#include <seqtrain/core/json.hpp>
#include <seqtrain/core/parse_number.hpp>
#include <seqtrain/gcs/uri.hpp>
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

/// The properties of an object. A generation is one version of its content.
struct ObjectInfo {
  Uri uri;
  std::int64_t generation = 0;
  std::uint64_t size = 0;  ///< bytes, as stored
  std::optional<Crc32c> crc32c = {};
  std::string content_type = {};
  std::string updated = {};  ///< RFC 3339
};

namespace detail {

/// Reads a 64-bit number, which the service writes as a string and emulators also write as a
/// number.
template <class Number>
Number read_number(const json::Value& value) {
  if (value.is_integer()) {
    const auto number = value.integer();
    if (number < 0) throw value.error("negative");
    return static_cast<Number>(number);
  }
  const auto number = parse_number<Number>(value.string());
  if (!number || value.string().starts_with('-')) throw value.error("expected a number");
  return *number;
}

inline ObjectInfo read_object(const json::Value& object, const std::string& bucket) {
  ObjectInfo info{{bucket, std::string{object.at("name").string()}}};
  info.generation = read_number<std::int64_t>(object.at("generation"));
  info.size = read_number<std::uint64_t>(object.at("size"));
  if (const auto sum = object.find("crc32c")) info.crc32c = parse_crc32c(sum->string());
  if (const auto type = object.find("contentType")) info.content_type = type->string();
  if (const auto updated = object.find("updated")) info.updated = updated->string();
  return info;
}

}  // namespace detail

}  // namespace seqtrain::gcs
