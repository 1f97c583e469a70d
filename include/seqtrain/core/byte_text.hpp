#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace seqtrain {

/// A form of base64 (RFC 4648).
enum class Base64 {
  standard,  ///< section 4, with padding
  any,       ///< section 4 or 5, with or without padding
};

/// Decodes base64. Returns nothing if the text is not valid.
[[nodiscard]] inline std::optional<std::string> decode_base64(std::string_view text, Base64 form) {
  constexpr auto values = [] {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
    std::array<std::int8_t, 256> table{};
    table.fill(-1);
    for (std::size_t i = 0; i < digits.size(); ++i) {
      table[static_cast<unsigned char>(digits[i])] = static_cast<std::int8_t>(i < 64 ? i : i - 2);
    }
    return table;
  }();
  const bool standard = form == Base64::standard;
  if (standard && (text.size() % 4 != 0 || text.find_first_of("-_") != text.npos)) return {};
  if (text.size() % 4 == 0) {
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return {};
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::int8_t value = values[static_cast<unsigned char>(c)];
    if (value < 0) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return bytes;
}

/// Encodes bytes in base64 with padding (RFC 4648, section 4).
[[nodiscard]] inline std::string encode_base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k > group.size() ? '=' : digits[bits >> (18 - 6 * k) & 63];
    }
  }
  return text;
}

/// Replaces every `%XX` by its byte.
[[nodiscard]] inline std::string percent_decode(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const bool escaped = text[i] == '%' && i + 2 < text.size() &&
                         std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr ==
                             text.data() + i + 3;
    plain += escaped ? static_cast<char>(byte) : text[i];
    if (escaped) i += 2;
  }
  return plain;
}

/// Returns a view of bytes as text.
[[nodiscard]] inline std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Appends a number to bytes, the lowest byte first.
template <std::unsigned_integral T>
void append_little_endian(std::string& bytes, T number) {
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i));
}

/// Returns a text without the blanks at its ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text,
                                                 std::string_view blanks = " \t\r\n") noexcept {
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// Returns two lower-case hexadecimal digits for each byte.
[[nodiscard]] inline std::string hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) text += {digits[byte >> 4], digits[byte & 15]};
  return text;
}

/// Returns 16 random hexadecimal digits, which another process hardly draws too.
[[nodiscard]] inline std::string random_token() {
  std::random_device random;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%08x%08x", random(), random());
  return text.data();
}

}  // namespace seqtrain
