#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// Up to 15 bytes of a word and their number, in two machine words.
class WordKey {
 public:
  static constexpr std::size_t max_bytes = 15;

  WordKey() = default;

  /// 16 bytes can be read from the start of `word`. One of more than `max_bytes` gets a key that no
  /// entry has.
  static WordKey of_padded(std::string_view word) noexcept {
    static_assert(std::endian::native == std::endian::little);
    static constexpr auto masks = [] {  // 16 bytes from 16 - n on keep n bytes
      std::array<unsigned char, 32> bytes{};
      std::fill_n(bytes.begin(), 16, static_cast<unsigned char>(0xFF));
      return bytes;
    }();
    const std::size_t size = std::min(word.size(), std::size_t{16});
    const unsigned char* mask = masks.data() + 16 - size;
    return {load(word.data()) & load(mask),
            (load(word.data() + 8) & load(mask + 8)) |
                (size < 16 ? std::uint64_t{size} << 56 : ~std::uint64_t{})};
  }

  /// `word` has at most `max_bytes`.
  static WordKey of(std::string_view word) noexcept {
    std::array<char, 16> padded{};
    std::memcpy(padded.data(), word.data(), word.size());
    return of_padded({padded.data(), word.size()});
  }

  /// Well mixed in the upper bits.
  [[nodiscard]] std::uint64_t hash() const noexcept {
    return low_ * 0x9E3779B97F4A7C15u + (high_ ^ low_ >> 29) * 0xC2B2AE3D27D4EB4Fu;
  }

  bool operator==(const WordKey& other) const noexcept {
    return ((low_ ^ other.low_) | (high_ ^ other.high_)) == 0;
  }

 private:
  WordKey(std::uint64_t low, std::uint64_t high) noexcept : low_{low}, high_{high} {}

  static std::uint64_t load(const void* bytes) noexcept {
    std::uint64_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
};

/// Remembers the ids of short words: 2 MiB, in which a new word takes the place of an older one.
class WordCache {
 public:
  static constexpr std::size_t max_ids = 3;

  struct Entry {
    WordKey key = {};
    std::array<Id, max_ids> ids = {};
    std::uint32_t count = 0;
  };

  /// Forgets everything. It has no memory, and may not be asked, before this is called first.
  void reset() { sets_.assign(std::size_t{1} << log2_sets, Set{}); }

  /// Says that `find` will be asked for a word soon.
  void prefetch(const WordKey& key) const noexcept { __builtin_prefetch(&set_of(key)); }

  /// The entry of a word, or null.
  [[nodiscard]] const Entry* find(const WordKey& key) const noexcept {
    const Set& set = set_of(key);
    const Entry& entry = set.entries[std::size_t{!(set.entries[0].key == key)}];
    return entry.key == key ? &entry : nullptr;
  }

  /// Remembers at most `max_ids` ids; does nothing where there are more.
  void insert(const WordKey& key, std::span<const Id> ids) noexcept {
    if (ids.size() > max_ids) return;
    Set& set = sets_[place(key)];
    set.entries[1] = set.entries[0];
    set.entries[0] = {.key = key, .count = static_cast<std::uint32_t>(ids.size())};
    std::ranges::copy(ids, set.entries[0].ids.begin());
  }

 private:
  static constexpr int log2_sets = 15;

  struct alignas(64) Set {
    std::array<Entry, 2> entries = {};
  };

  static std::size_t place(const WordKey& key) noexcept { return key.hash() >> (64 - log2_sets); }
  [[nodiscard]] const Set& set_of(const WordKey& key) const noexcept { return sets_[place(key)]; }

  std::vector<Set> sets_;
};

}  // namespace seqtrain::text
