#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <seqtrain/text/unicode/utf8.hpp>

namespace seqtrain::report {

/// Returns the text with U+FFFD in place of every byte that is not part of valid UTF-8.
inline std::string valid_utf8(std::string_view bytes) {
  if (text::is_valid_utf8(bytes)) return std::string{bytes};
  std::string valid;
  while (!bytes.empty()) {
    const std::size_t length = text::well_formed_prefix(bytes);
    valid += length > 0 ? bytes.substr(0, length) : "\xef\xbf\xbd";
    bytes.remove_prefix(length > 0 ? length : 1);
  }
  return valid;
}

/// Appends an unsigned number in little-endian order.
template <class Unsigned>
void append_little_endian(std::string& out, Unsigned number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    out += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
  }
}

/// Writes a message in the encoding of protocol buffers (protobuf.dev/programming-guides/encoding).
/// Fields have the order of the calls.
class Message {
 public:
  /// Writes an integer, a Boolean or a value of an enumeration.
  Message& integer(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& number(int field, double value) {
    key(field, 1);
    append_little_endian(text_, std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  Message& number(int field, float value) {
    key(field, 5);
    append_little_endian(text_, std::bit_cast<std::uint32_t>(value));
    return *this;
  }
  Message& bytes(int field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  /// Writes a text as valid UTF-8, because readers refuse any other.
  Message& string(int field, std::string_view value) { return bytes(field, valid_utf8(value)); }
  Message& message(int field, const Message& value) { return bytes(field, value.encoded()); }

  [[nodiscard]] const std::string& encoded() const noexcept { return text_; }

 private:
  void key(int field, std::uint64_t wire_type) {
    varint(static_cast<std::uint64_t>(field) << 3 | wire_type);
  }

  void varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) text_ += static_cast<char>((number & 0x7f) | 0x80);
    text_ += static_cast<char>(number);
  }

  std::string text_;
};

}  // namespace seqtrain::report
