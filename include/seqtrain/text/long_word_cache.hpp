#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// Remembers the ids of words that do not fit into a `WordCache`: 1.5 MiB, in which a new word
/// takes the place of an older one.
class LongWordCache {
 public:
  static constexpr std::size_t max_bytes = 124;
  static constexpr std::size_t max_ids = 64;

  /// Forgets everything. It has no memory, and may not be asked, before this is called first.
  void reset() { entries_.assign(std::size_t{1} << log2_entries, Entry{}); }

  /// The ids of a word; empty if it is not remembered.
  [[nodiscard]] std::span<const Id> find(std::string_view word) const noexcept {
    const Entry& entry = entries_[place(word)];
    if (entry.bytes != word.size() || !std::equal(word.begin(), word.end(), entry.word.begin())) {
      return {};
    }
    return {entry.ids.data(), entry.count};
  }

  /// Does nothing where a word has too many bytes or ids, or none.
  void insert(std::string_view word, std::span<const Id> ids) noexcept {
    if (word.size() > max_bytes || ids.size() > max_ids || ids.empty()) return;
    Entry& entry = entries_[place(word)];
    entry.bytes = static_cast<std::uint16_t>(word.size());
    entry.count = static_cast<std::uint16_t>(ids.size());
    std::ranges::copy(word, entry.word.begin());
    std::ranges::copy(ids, entry.ids.begin());
  }

 private:
  static constexpr int log2_entries = 12;

  struct alignas(64) Entry {
    std::array<char, max_bytes> word = {};
    std::uint16_t bytes = 0;
    std::uint16_t count = 0;
    std::array<Id, max_ids> ids = {};
  };

  /// Multiplies and folds, 8 bytes at a time.
  static std::size_t place(std::string_view word) noexcept {
    std::uint64_t hash = word.size();
    for (std::size_t i = 0; i < word.size(); i += 8) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, word.data() + i, std::min<std::size_t>(8, word.size() - i));
      hash = (hash ^ bytes) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
    }
    return hash * 0xC2B2AE3D27D4EB4Fu >> (64 - log2_entries);
  }

  std::vector<Entry> entries_;
};

}  // namespace seqtrain::text
