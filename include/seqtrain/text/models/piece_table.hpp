#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// Strings with ids, built to find the longest one that a text begins with. Hashes are polynomials
/// modulo 2^64 in an odd number. An odd number has an inverse, so the hash of a prefix follows from
/// the hash of the prefix that is one byte longer.
class PieceTable {
 public:
  /// The longest string at the front of a text.
  struct Match {
    std::size_t size = 0;  ///< the number of bytes; 0 if nothing matches
    Id id = 0;
  };

  /// Reserves room for `pieces` strings of less than 4 GiB in all.
  explicit PieceTable(std::size_t pieces)
      : slots_(std::bit_ceil(pieces * 3 / 2 + 2)),
        filter_(slots_.size() * 8),
        shift_{64 - std::countr_zero(slots_.size())} {}

  /// Adds a piece or changes its id. An empty piece is never found.
  void insert(std::string_view piece, Id id) {
    if (piece.empty()) return;
    std::uint64_t hash = 0;
    for (const char c : piece) hash = hash * base + byte(c);
    const std::uint64_t mixed = mix(hash, piece.size());
    Slot& slot = slots_[find(mixed, piece)];
    if (slot.size == 0) {
      filter_[mixed >> (shift_ - 3)] = true;
      slot = {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(piece.size()),
              static_cast<std::uint32_t>(bytes_.size()), 0};
      bytes_ += piece;
      auto& longest = longest_[byte(piece[0])];
      longest = std::max(longest, piece.size());
    }
    slot.id = id;
  }

  /// Returns the longest piece that `text` begins with. `text` must not be empty.
  [[nodiscard]] Match longest_prefix(std::string_view text) const noexcept {
    std::size_t size = std::min(text.size(), longest_[byte(text[0])]);
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < size; ++i) hash = hash * base + byte(text[i]);
    for (; size > 0; --size) {
      const std::uint64_t mixed = mix(hash, size);
      if (filter_[mixed >> (shift_ - 3)]) {
        const Slot& slot = slots_[find(mixed, text.substr(0, size))];
        if (slot.size != 0) return {size, slot.id};
      }
      hash = (hash - byte(text[size - 1])) * inverse;
    }
    return {};
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t size = 0;  ///< 0 if the slot is free
    std::uint32_t offset = 0;
    Id id = 0;
  };

  static constexpr std::uint64_t base = 0x9E3779B97F4A7C15u;
  /// The inverse of `base` by Newton's iteration, which doubles the number of correct bits.
  static constexpr std::uint64_t inverse = [] {
    std::uint64_t x = base;
    for (int i = 0; i < 5; ++i) x *= 2 - base * x;
    return x;
  }();
  static_assert(base * inverse == 1);

  static constexpr std::size_t byte(char c) noexcept { return static_cast<unsigned char>(c); }

  static constexpr std::uint64_t mix(std::uint64_t hash, std::size_t size) noexcept {
    return (hash ^ hash >> 32 ^ size) * 0xC2B2AE3D27D4EB4Fu;
  }

  /// Returns the slot of `piece`, or the free slot where it belongs.
  [[nodiscard]] std::size_t find(std::uint64_t mixed, std::string_view piece) const noexcept {
    const auto tag = static_cast<std::uint32_t>(mixed);
    std::size_t i = mixed >> shift_;
    while (slots_[i].size != 0 && !(slots_[i].tag == tag && holds(slots_[i], piece))) {
      i = (i + 1) & (slots_.size() - 1);
    }
    return i;
  }

  [[nodiscard]] bool holds(const Slot& slot, std::string_view piece) const noexcept {
    return slot.size == piece.size() && bytes_.compare(slot.offset, slot.size, piece) == 0;
  }

  std::vector<Slot> slots_;
  std::vector<bool> filter_;  ///< fits the cache; if the bit is not set there is no such piece
  int shift_;
  std::string bytes_;
  std::array<std::size_t, 256> longest_{};  ///< bytes of the longest piece, by first byte
};

}  // namespace seqtrain::text
