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
#include <utility>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// Up to 15 bytes of a word and their number, in two machine words with 4 bits to spare.
class WordKey {
 public:
  static constexpr std::size_t max_bytes = 15;

  WordKey() = default;

  /// 16 bytes can be read from the start of `word`. One of more than `max_bytes` gets the key of
  /// no word: no bytes, but not empty.
  static WordKey of_padded(std::string_view word) noexcept {
    static_assert(std::endian::native == std::endian::little);
    static constexpr auto masks = [] {  // 16 bytes from 16 - n on keep n bytes
      std::array<unsigned char, 32> bytes{};
      std::fill_n(bytes.begin(), 16, static_cast<unsigned char>(0xFF));
      return bytes;
    }();
    const bool fits = word.size() <= max_bytes;
    const std::size_t size = fits ? word.size() : 0;
    const unsigned char* mask = masks.data() + 16 - size;
    return {(load(word.data()) & load(mask)) | std::uint64_t{!fits},
            (load(word.data() + 8) & load(mask + 8)) | std::uint64_t{size} << 56};
  }

  /// `word` has at most `max_bytes`.
  static WordKey of(std::string_view word) noexcept {
    std::array<char, 16> padded{};
    std::memcpy(padded.data(), word.data(), word.size());
    return of_padded({padded.data(), word.size()});
  }

  /// Well mixed in the upper bits; whatever the spare bits are.
  [[nodiscard]] std::uint64_t hash() const noexcept {
    return low_ * 0x9E3779B97F4A7C15u + (high_ << 4 ^ low_ >> 29) * 0xC2B2AE3D27D4EB4Fu;
  }

  /// Whether the words are the same, whatever the spare bits are.
  [[nodiscard]] bool same_word(const WordKey& other) const noexcept {
    return ((low_ ^ other.low_) | (high_ ^ other.high_) << 4) == 0;
  }

  [[nodiscard]] std::size_t spare() const noexcept { return high_ >> 60; }
  void set_spare(std::size_t value) noexcept { high_ |= std::uint64_t{value} << 60; }

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
/// Words come in sets of two; the one that must leave its set may stay in the next, for a while.
class WordCache {
 public:
  static constexpr std::size_t max_ids = 4;

  struct Entry {
    WordKey key = {};  ///< the number of ids is in its spare bits
    std::array<Id, max_ids> ids = {};

    [[nodiscard]] std::size_t count() const noexcept { return key.spare(); }
  };

  /// Forgets everything. It has no memory, and may not be asked, before this is called first.
  void reset() { sets_.assign(std::size_t{1} << log2_sets, Set{}); }

  /// Says that `find` will be asked for a word soon.
  void prefetch(const WordKey& key) const noexcept { __builtin_prefetch(&sets_[place(key)]); }

  /// The entry of a word, or null. It is valid until the next call.
  [[nodiscard]] const Entry* find(const WordKey& key) noexcept {
    const Entry* entry = sets_[place(key)].find(key);
    return entry ? entry : recall(key);
  }

  /// Remembers at most `max_ids` ids; does nothing where there are more.
  void insert(const WordKey& key, std::span<const Id> ids) noexcept {
    if (ids.size() > max_ids) return;
    Set& set = sets_[place(key)];
    neighbour(key).entries[1] = set.entries[1];
    set.entries[1] = set.entries[0];
    set.entries[0] = {.key = key};
    set.entries[0].key.set_spare(ids.size());
    std::ranges::copy(ids, set.entries[0].ids.begin());
  }

 private:
  static constexpr int log2_sets = 15;

  struct alignas(64) Set {
    std::array<Entry, 2> entries = {};

    [[nodiscard]] const Entry* find(const WordKey& key) const noexcept {
      const Entry& entry = entries[std::size_t{!entries[0].key.same_word(key)}];
      return entry.key.same_word(key) ? &entry : nullptr;
    }
  };

  static std::size_t place(const WordKey& key) noexcept { return key.hash() >> (64 - log2_sets); }

  Set& neighbour(const WordKey& key) noexcept { return sets_[place(key) ^ 1]; }

  /// Takes a word back that has been moved to the neighbour.
  const Entry* recall(const WordKey& key) noexcept {
    Entry& moved = neighbour(key).entries[1];
    if (!moved.key.same_word(key)) return nullptr;
    Entry& home = sets_[place(key)].entries[1];
    std::swap(moved, home);
    return &home;
  }

  std::vector<Set> sets_;
};

}  // namespace seqtrain::text
