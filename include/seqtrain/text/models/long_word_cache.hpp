#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <seqtrain/core/huge_pages.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// Caches the ids of words that do not fit into a `WordCache`: a hash table of at most 9 MiB that
/// is emptied when it is full. A record holds the sizes, the ids and the word side by side.
class LongWordCache {
 public:
  static constexpr std::size_t max_bytes = 255;
  static constexpr std::size_t max_ids = 255;

  /// Empties the cache. Call it before any other function: a new cache has no memory.
  void reset() {
    slots_.assign(std::size_t{1} << log2_slots, Slot{});
    records_.clear();
    records_.reserve(max_records);
    words_ = 0;
  }

  /// Returns the ids of a word, or an empty span. The span is valid until the next insertion.
  [[nodiscard]] std::span<const Id> find(std::string_view word) const noexcept {
    const Slot& slot = slots_[place(word, hash_of(word))];
    return slot.used() ? ids_of(slot) : std::span<const Id>{};
  }

  /// Does nothing if the word is already cached, or has too many bytes or ids, or no ids.
  void insert(std::string_view word, std::span<const Id> ids) {
    if (word.size() > max_bytes || ids.size() > max_ids || ids.empty()) return;
    const std::size_t size = 1 + ids.size() + (word.size() + sizeof(Id) - 1) / sizeof(Id);
    if (records_.size() + size > max_records || 4 * words_ > 3 * slots_.size()) reset();
    const std::uint64_t hash = hash_of(word);
    Slot& slot = slots_[place(word, hash)];
    if (slot.used()) return;
    const std::size_t end = records_.size();
    slot = {.record = static_cast<std::uint32_t>(end), .tag = tag(hash)};
    records_.resize(end + size);
    records_[end] = std::bit_cast<Id>(Sizes{.bytes = static_cast<std::uint16_t>(word.size()),
                                            .ids = static_cast<std::uint16_t>(ids.size())});
    std::memcpy(&records_[end + 1], ids.data(), ids.size_bytes());
    std::memcpy(&records_[end + 1 + ids.size()], word.data(), word.size());
    ++words_;
  }

 private:
  static constexpr int log2_slots = 17;
  static constexpr std::size_t max_records = std::size_t{1} << 21;  ///< counted in ids: 8 MiB

  struct Sizes {
    std::uint16_t bytes;
    std::uint16_t ids;
  };

  struct Slot {
    static constexpr std::uint32_t none = 0xFFFFFFFF;

    std::uint32_t record = none;  ///< index of the record's first id
    std::uint32_t tag = 0;        ///< bits of the hash that do not choose the slot

    [[nodiscard]] bool used() const noexcept { return record != none; }
  };

  /// Hashes 8 bytes at a time by multiplying and folding.
  static std::uint64_t hash_of(std::string_view word) noexcept {
    std::uint64_t hash = word.size();
    for (std::size_t i = 0; i < word.size(); i += 8) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, word.data() + i, std::min<std::size_t>(8, word.size() - i));
      hash = (hash ^ bytes) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    }
    return hash * 0xC2B2AE3D27D4EB4Fu;
  }
  static std::uint32_t tag(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash); }

  /// Returns the slot of a word, or the free slot where it belongs.
  [[nodiscard]] std::size_t place(std::string_view word, std::uint64_t hash) const noexcept {
    const auto is_free_or_its_own = [&](const Slot& slot) {
      return !slot.used() || (slot.tag == tag(hash) && word_of(slot) == word);
    };
    std::size_t at = hash >> (64 - log2_slots);
    while (!is_free_or_its_own(slots_[at])) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  [[nodiscard]] std::span<const Id> ids_of(const Slot& slot) const noexcept {
    const Id* const record = &records_[slot.record];
    return {record + 1, std::bit_cast<Sizes>(*record).ids};
  }

  [[nodiscard]] std::string_view word_of(const Slot& slot) const noexcept {
    const auto ids = ids_of(slot);
    return {reinterpret_cast<const char*>(ids.data() + ids.size()),
            std::bit_cast<Sizes>(records_[slot.record]).bytes};
  }

  std::vector<Slot> slots_;
  std::vector<Id, HugePageAllocator<Id>> records_;
  std::size_t words_ = 0;
};

}  // namespace seqtrain::text
