#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/core/huge_pages.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// The bytes of a word of up to 15 bytes and their number, in two machine words with 4 spare bits.
class WordKey {
 public:
  static constexpr std::size_t max_bytes = 15;

  WordKey() = default;

  /// Returns the key of a word from whose start 16 bytes can be read. A word of more than
  /// `max_bytes` gets a key that no word has and that is not empty.
  static WordKey of_padded(std::string_view word) noexcept {
    static_assert(std::endian::native == std::endian::little);
    const Frame& frame = frames[std::min(word.size(), max_bytes + 1)];
    return {load(word.data()) & frame.low, (load(word.data() + 8) & frame.high) | frame.size};
  }

  /// Returns the key of a word of at most `max_bytes`.
  static WordKey of(std::string_view word) noexcept {
    std::array<char, 16> padded{};
    std::memcpy(padded.data(), word.data(), word.size());
    return of_padded({padded.data(), word.size()});
  }

  /// Returns a hash that is well mixed in its upper bits. It ignores the spare bits.
  [[nodiscard]] std::uint64_t hash() const noexcept {
    return low_ * 0x9E3779B97F4A7C15u + (high_ << 4 ^ low_ >> 29) * 0xC2B2AE3D27D4EB4Fu;
  }

  /// Returns whether the keys hold one word. It ignores the spare bits.
  [[nodiscard]] bool same_word(const WordKey& other) const noexcept {
    return ((low_ ^ other.low_) | (high_ ^ other.high_) << 4) == 0;
  }

  [[nodiscard]] std::size_t spare() const noexcept { return high_ >> 60; }
  void set_spare(std::size_t value) noexcept { high_ |= std::uint64_t{value} << 60; }

 private:
  /// The bits of a key that come from the word, and the bits that hold its size.
  struct Frame {
    std::uint64_t low;
    std::uint64_t high;
    std::uint64_t size;
  };

  /// One frame per number of bytes. The last frame is for longer words: it has size 1 and a ninth
  /// byte, which no short word has.
  static constexpr auto frames = [] {
    std::array<Frame, max_bytes + 2> result{};
    for (std::size_t size = 1; size <= max_bytes; ++size) {
      const auto first = [](std::size_t bytes) { return (std::uint64_t{1} << 8 * bytes) - 1; };
      result[size] = {.low = size < 8 ? first(size) : ~std::uint64_t{0},
                      .high = size < 8 ? 0 : first(size - 8),
                      .size = std::uint64_t{size} << 56};
    }
    result.back().size = std::uint64_t{1} << 56 | 1;
    return result;
  }();

  WordKey(std::uint64_t low, std::uint64_t high) noexcept : low_{low}, high_{high} {}

  static std::uint64_t load(const void* bytes) noexcept {
    std::uint64_t value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
};

/// Caches the ids of short words: a hash table that grows to 32 MiB and is then emptied. Words that
/// came early, which are mostly the frequent ones, are found at the first place that is read, their
/// home.
class WordCache {
 public:
  static constexpr std::size_t max_ids = 4;

  struct alignas(32) Entry {
    WordKey key = {};  ///< its spare bits hold the number of ids
    std::array<Id, max_ids> ids = {};

    [[nodiscard]] std::size_t count() const noexcept { return key.spare(); }
    [[nodiscard]] bool empty() const noexcept { return key.same_word(WordKey{}); }
  };

  /// Empties the cache. Call it before any other function: a new cache has no memory.
  void reset() { resize(first_log2); }

  /// Returns the home of a word. After an insertion the place can still be passed to `find`, but
  /// the search may miss the word.
  [[nodiscard]] std::size_t place(const WordKey& key) const noexcept {
    return key.hash() >> shift_;
  }

  /// Prefetches a place that `find` will read soon.
  void prefetch(std::size_t place) const noexcept { __builtin_prefetch(&entries_[place]); }

  /// Returns the entry of a word, or null. It is valid until the next insertion.
  [[nodiscard]] const Entry* find(const WordKey& key, std::size_t place) const noexcept {
    for (;; place = (place + 1) & (entries_.size() - 1)) {
      const Entry& entry = entries_[place];
      if (entry.key.same_word(key)) [[likely]]
        return &entry;
      if (entry.empty()) return nullptr;
    }
  }
  [[nodiscard]] const Entry* find(const WordKey& key) const noexcept {
    return find(key, place(key));
  }

  /// Stores the ids of a word that has at most `max_ids`.
  void insert(const WordKey& key, std::span<const Id> ids) {
    if (4 * used_ > 3 * entries_.size()) grow();
    Entry entry{.key = key};
    entry.key.set_spare(ids.size());
    std::ranges::copy(ids, entry.ids.begin());
    add(entry);
  }

 private:
  static constexpr int first_log2 = 12;
  static constexpr int last_log2 = 20;

  void add(const Entry& entry) noexcept {
    std::size_t at = place(entry.key);
    while (!entries_[at].empty()) at = (at + 1) & (entries_.size() - 1);
    entries_[at] = entry;
    ++used_;
  }

  void resize(int log2) {
    entries_.assign(std::size_t{1} << log2, Entry{});
    shift_ = 64 - log2;
    used_ = 0;
  }

  void grow() {
    const int old_shift = shift_;
    const int log2 = 64 - old_shift;
    if (log2 == last_log2) return resize(last_log2);
    const auto old = std::exchange(entries_, {});
    resize(log2 + 1);
    for (const bool at_home : {true, false}) {  // The older of two words with one home goes first.
      for (std::size_t i = 0; i < old.size(); ++i) {
        if (!old[i].empty() && (old[i].key.hash() >> old_shift == i) == at_home) add(old[i]);
      }
    }
  }

  std::vector<Entry, HugePageAllocator<Entry>> entries_;
  std::size_t used_ = 0;
  int shift_ = 64;
};

}  // namespace seqtrain::text
