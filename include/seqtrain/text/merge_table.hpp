#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// What two neighbouring symbols become. Merges of lower rank go first.
struct Merge {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t rank = none;  ///< `none` if the two do not merge
  Id result = 0;
};

/// Pairs of symbols → merges: a hash table with open addressing, at most half full.
class MergeTable {
 public:
  explicit MergeTable(std::size_t expected = 0)
      : slots_(std::bit_ceil(2 * expected + 2)), shift_{std::countl_zero(slots_.size()) + 1} {}

  /// Must not be called more often than expected. The last merge of a pair counts.
  void insert(Id left, Id right, Merge merge) {
    Slot& slot = slots_[place(key(left, right))];
    slot = {.key = key(left, right), .merge = merge};
  }

  [[nodiscard]] Merge find(Id left, Id right) const noexcept {
    return slots_[place(key(left, right))].merge;
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

  /// The pair's slot, or the free one where it would be.
  [[nodiscard]] std::size_t place(std::uint64_t key) const noexcept {
    std::size_t at = key * 0x9E3779B97F4A7C15u >> shift_;
    while (slots_[at].merge.rank != Merge::none && slots_[at].key != key) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }

  std::vector<Slot> slots_;
  int shift_;
};

}  // namespace seqtrain::text
