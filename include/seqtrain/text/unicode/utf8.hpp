#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/text/avx512.hpp>

namespace seqtrain::text {

/// Returns whether a byte continues a character, i.e. is 10xxxxxx.
[[nodiscard]] constexpr bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u;
}

#if defined(__x86_64__)
/// Does the work of `ascii_length` with AVX-512.
[[nodiscard]] SEQTRAIN_TEXT_AVX512 inline std::size_t ascii_length_avx512(
    std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size(); at += 64) {
    const auto left = static_cast<unsigned>(std::min<std::size_t>(64, text.size() - at));
    const __m512i bytes =
        _mm512_maskz_loadu_epi8(_bzhi_u64(~std::uint64_t{0}, left), text.data() + at);
    const std::uint64_t beyond = _mm512_movepi8_mask(bytes);
    if (beyond != 0) return at + static_cast<std::size_t>(std::countr_zero(beyond));
  }
  return text.size();
}
#endif

/// Returns the number of bytes before the first that is not ASCII.
[[nodiscard]] inline std::size_t ascii_length(std::string_view text) noexcept {
#if defined(__x86_64__)
  if (has_avx512()) return ascii_length_avx512(text);
#endif
  std::size_t i = 0;
  constexpr std::size_t size = 16;
  const auto is_ascii = [&](std::size_t at) {
    std::uint64_t words[2];
    std::memcpy(words, text.data() + at, size);
    return ((words[0] | words[1]) & 0x8080808080808080) == 0;
  };
  while (i + size <= text.size() && is_ascii(i)) i += size;
  if (text.size() >= size && i + size > text.size() && is_ascii(text.size() - size)) {
    return text.size();
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

/// Returns whether a text is UTF-8.
[[nodiscard]] inline bool is_valid_utf8(std::string_view text) {
  text.remove_prefix(ascii_length(text));
  return text.empty() || simdjson::validate_utf8(text.data(), text.size());
}

/// Returns the number of bytes of the character that begins with `lead`, which must be a valid
/// first byte.
[[nodiscard]] constexpr std::size_t utf8_length(char lead) noexcept {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Returns the character at `position` and moves `position` past it. `text` must be valid UTF-8,
/// and `position` must be the start of a character.
[[nodiscard]] constexpr char32_t decode(std::string_view text, std::size_t& position) noexcept {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[position + i]));
  };
  const auto tail = [&](std::size_t i) { return byte(i) & 0x3F; };
  const std::size_t length = utf8_length(text[position]);
  char32_t code = byte(0);
  if (length == 2) code = (code & 0x1F) << 6 | tail(1);
  if (length == 3) code = (code & 0x0F) << 12 | tail(1) << 6 | tail(2);
  if (length == 4) code = (code & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
  position += length;
  return code;
}

/// Appends a Unicode scalar value: at most U+10FFFF and no surrogate.
constexpr void append_utf8(std::string& out, char32_t code) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto tail = [&](int shift) { put(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    tail(6);
  } else {
    put(0xF0 | code >> 18);
    tail(12);
    tail(6);
  }
  tail(0);
}

/// Returns the number of characters of a valid UTF-8 text.
[[nodiscard]] constexpr std::size_t count_characters(std::string_view text) noexcept {
  std::size_t count = 0;
  for (const char byte : text) count += is_continuation(byte) ? 0u : 1u;
  return count;
}

/// Returns the number of bytes of the well-formed character at the front of `text`, or 0 if there
/// is none (Unicode 15, table 3-7).
[[nodiscard]] constexpr std::size_t well_formed_prefix(std::string_view text) noexcept {
  const auto within = [&](std::size_t i, unsigned low, unsigned high) {
    if (i >= text.size()) return false;
    const auto byte = static_cast<unsigned char>(text[i]);
    return low <= byte && byte <= high;
  };
  if (within(0, 0x00, 0x7F)) return 1;
  if (within(0, 0xC2, 0xDF)) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (within(0, 0xE0, 0xEF)) {
    const unsigned low = within(0, 0xE0, 0xE0) ? 0xA0 : 0x80;   // rejects over-long forms
    const unsigned high = within(0, 0xED, 0xED) ? 0x9F : 0xBF;  // rejects surrogates
    return within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (!within(0, 0xF0, 0xF4)) return 0;
  const unsigned low = within(0, 0xF0, 0xF0) ? 0x90 : 0x80;
  const unsigned high = within(0, 0xF4, 0xF4) ? 0x8F : 0xBF;  // rejects code points above U+10FFFF
  return within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
}

/// Returns the offset of the first byte that is not valid UTF-8, or nothing if the whole text is
/// valid.
[[nodiscard]] inline std::optional<std::size_t> first_invalid(std::string_view text) {
  if (is_valid_utf8(text)) return {};
  std::size_t position = 0;
  while (const std::size_t length = well_formed_prefix(text.substr(position))) position += length;
  return position;
}

/// Returns GPT-2's printable character for each byte: bytes that are printable in Latin-1 stay
/// themselves, the other 68 become U+0100 onwards. Vocabularies and merges of byte-level BPE are
/// written in these characters.
[[nodiscard]] inline const std::array<std::string, 256>& byte_symbols() {
  static const auto symbols = [] {
    std::array<std::string, 256> table;
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable =
          (0x21 <= byte && byte <= 0x7E) || (0xA1 <= byte && byte <= 0xFF && byte != 0xAD);
      append_utf8(table[byte], printable ? byte : next++);
    }
    return table;
  }();
  return symbols;
}

/// Throws `InputError` that names the first wrong byte, counted from 1, if a text is not UTF-8.
inline void check_utf8(std::string_view text) {
  if (is_valid_utf8(text)) return;
  throw InputError{"the text is not UTF-8 at byte " +
                   std::to_string(first_invalid(text).value_or(0) + 1)};
}

}  // namespace seqtrain::text
