#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include <seqtrain/core/separate_compilation.hpp>

namespace seqtrain {

namespace detail::crc32c {

/// The Castagnoli polynomial 0x1edc6f41, bits reversed.
inline constexpr std::uint32_t polynomial = 0x82f63b78;

/// Returns the product of two polynomials modulo the Castagnoli polynomial. Bits are reversed: bit
/// 31 is the coefficient of x^0.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = std::uint32_t{1} << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? polynomial : 0);
  }
  return product;
}

/// Returns x^(8 · bytes). Multiplying a checksum's state by it appends that many zero bytes.
constexpr std::uint32_t shift(std::uint64_t bytes) {
  std::uint32_t power = std::uint32_t{1} << 23;  // x^8
  std::uint32_t result = std::uint32_t{1} << 31;
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) result = multiply(result, power);
    power = multiply(power, power);
  }
  return result;
}

/// Updates a state, which is the complement of a checksum.
SEQTRAIN_SEPARATE std::uint32_t advance(std::uint32_t state, std::span<const std::byte> bytes);

}  // namespace detail::crc32c

/// Computes CRC-32C (RFC 3720, appendix B.4) piece by piece. Checksums of neighbouring pieces can
/// be joined without reading the bytes again.
class Crc32c {
 public:
  Crc32c() = default;
  /// Continues from a checksum that was computed elsewhere.
  explicit Crc32c(std::uint32_t value) : value_{value} {}

  /// Adds bytes to the checksum.
  Crc32c& update(std::span<const std::byte> bytes) {
    value_ = ~detail::crc32c::advance(~value_, bytes);
    return *this;
  }
  /// Adds a text to the checksum.
  Crc32c& update(std::string_view text) { return update(std::as_bytes(std::span{text})); }

  /// Appends a piece of `size` bytes whose own checksum is `next`.
  Crc32c& append(Crc32c next, std::uint64_t size) {
    value_ = detail::crc32c::multiply(detail::crc32c::shift(size), value_) ^ next.value_;
    return *this;
  }

  [[nodiscard]] std::uint32_t value() const noexcept { return value_; }
  /// Returns the checksum as eight lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(value_));
    return digits.data();
  }
  friend bool operator==(const Crc32c&, const Crc32c&) = default;

 private:
  std::uint32_t value_ = 0;
};

}  // namespace seqtrain

#ifndef SEQTRAIN_SEPARATE_COMPILATION
#include <seqtrain/core/src/crc32c.hpp>
#endif
