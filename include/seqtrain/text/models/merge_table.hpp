#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <seqtrain/core/huge_pages.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// The result of merging two neighbouring symbols. Merges of lower rank go first.
struct Merge {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t rank = none;  ///< `none` if the two symbols do not merge
  Id result = 0;
};

/// Maps pairs of symbols to merges: a hash table with open addressing that is at most half full. A
/// bit for each quarter of a slot tells whether any pair hashes there. Most pairs do not merge, and
/// these bits, which fit the cache, nearly always show it.
class MergeTable {
 public:
  explicit MergeTable(std::size_t expected = 0)
      : slots_(std::bit_ceil(2 * expected + 16)),
        bits_(4 * slots_.size() / 64),
        shift_{std::countl_zero(slots_.size()) + 1} {}

  /// Adds a merge. The calls must not exceed the expected number. If a pair is repeated its last
  /// merge counts.
  void insert(Id left, Id right, Merge merge) {
    const std::uint64_t hash = hash_of(key(left, right));
    slots_[place(key(left, right), hash)] = {.key = key(left, right), .merge = merge};
    bits_[quarter(hash) / 64] |= std::uint64_t{1} << quarter(hash) % 64;
  }

  /// Returns the merge of two tokens, or the default if there is none.
  [[nodiscard]] Merge find(Id left, Id right) const noexcept {
    const std::uint64_t hash = hash_of(key(left, right));
    if ((bits_[quarter(hash) / 64] >> quarter(hash) % 64 & 1) == 0) return {};
    return slots_[place(key(left, right), hash)].merge;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Merge merge = {};
  };

  [[nodiscard]] static std::uint64_t key(Id left, Id right) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
  }
  [[nodiscard]] static std::uint64_t hash_of(std::uint64_t key) noexcept {
    return key * 0x9E3779B97F4A7C15u;
  }
  [[nodiscard]] std::size_t quarter(std::uint64_t hash) const noexcept {
    return hash >> (shift_ - 2);
  }

  /// Returns the slot of a pair, or the free slot where it belongs.
  [[nodiscard]] std::size_t place(std::uint64_t key, std::uint64_t hash) const noexcept {
    std::size_t at = hash >> shift_;
    while (slots_[at].merge.rank != Merge::none && slots_[at].key != key) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }

  std::vector<Slot, HugePageAllocator<Slot>> slots_;
  std::vector<std::uint64_t> bits_;
  int shift_;
};

}  // namespace seqtrain::text
