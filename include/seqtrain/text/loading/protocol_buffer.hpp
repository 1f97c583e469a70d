#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <seqtrain/core/error.hpp>

namespace seqtrain::text {

/// One field of a protocol buffer. Each function that reads its value throws `InputError` with the
/// place if the field holds a value of another kind.
class ProtocolField {
 public:
  /// The wire type of a field.
  enum class Kind : unsigned { integer = 0, eight_bytes = 1, bytes = 2, four_bytes = 5 };

  ProtocolField(std::uint64_t number, Kind kind, std::size_t place, std::uint64_t value,
                std::string_view bytes)
      : number_{number}, kind_{kind}, place_{place}, value_{value}, bytes_{bytes} {}

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  /// Returns the offset in the file, in bytes, at which the value begins.
  [[nodiscard]] std::size_t place() const noexcept { return place_; }

  [[nodiscard]] std::uint64_t integer() const {
    require(Kind::integer, "an integer");
    return value_;
  }
  [[nodiscard]] bool boolean() const { return integer() != 0; }
  [[nodiscard]] float number32() const {
    require(Kind::four_bytes, "a 32-bit number");
    return std::bit_cast<float>(static_cast<std::uint32_t>(value_));
  }
  [[nodiscard]] std::string_view bytes() const {
    require(Kind::bytes, "bytes");
    return bytes_;
  }

  /// Returns an error that names the field and its place.
  [[nodiscard]] InputError error(const std::string& problem) const {
    return InputError{"field " + std::to_string(number_) + " at byte " + std::to_string(place_) +
                      " " + problem};
  }

 private:
  void require(Kind kind, const std::string& name) const {
    if (kind_ != kind) throw error("does not hold " + name);
  }

  std::uint64_t number_;
  Kind kind_;
  std::size_t place_;
  std::uint64_t value_;
  std::string_view bytes_;
};

/// Reads the fields of a protocol buffer's message one after the other.
class ProtocolReader {
 public:
  /// `place` is the offset of the message in its file, in bytes.
  explicit ProtocolReader(std::string_view message, std::size_t place = 0)
      : message_{message}, place_{place} {}
  explicit ProtocolReader(const ProtocolField& field)
      : ProtocolReader{field.bytes(), field.place()} {}

  /// Calls `fn(const ProtocolField&)` for each field. Throws `InputError` with the place if the
  /// bytes are not a message.
  template <class Fn>
  void for_each(Fn&& fn) {
    while (at_ < message_.size()) {
      const std::uint64_t key = varint();
      const auto kind = static_cast<ProtocolField::Kind>(key & 7);
      std::uint64_t value = 0;
      std::string_view bytes;
      std::size_t begin = at_;
      switch (kind) {
        case ProtocolField::Kind::integer:
          value = varint();
          break;
        case ProtocolField::Kind::eight_bytes:
          value = little_endian(take(8));
          break;
        case ProtocolField::Kind::four_bytes:
          value = little_endian(take(4));
          break;
        case ProtocolField::Kind::bytes:
          bytes = take(varint());
          begin = at_ - bytes.size();
          break;
        default:
          throw damaged();
      }
      fn(ProtocolField{key >> 3, kind, place_ + begin, value, bytes});
    }
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > message_.size() - at_) throw damaged();
    const auto taken = message_.substr(at_, static_cast<std::size_t>(size));
    at_ += taken.size();
    return taken;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    throw damaged();
  }

  static std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i) {
      value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
    }
    return value;
  }

  [[nodiscard]] InputError damaged() const {
    return InputError{"is cut off or damaged at byte " + std::to_string(place_ + at_)};
  }

  std::string_view message_;
  std::size_t place_;
  std::size_t at_ = 0;
};

}  // namespace seqtrain::text
