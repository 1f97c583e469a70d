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
#include <seqtrain/text/avx512.hpp>
#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// The words of a text: word i has the bytes from begins[i] to ends[i]. 16 bytes can be read from
/// the start of any word.
struct WordPositions {
  const char* bytes;
  const std::uint16_t* begins;
  const std::uint16_t* ends;

  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    return {bytes + begins[i], static_cast<std::size_t>(ends[i] - begins[i])};
  }
};

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
    return low_ * low_factor + (high_ << 4 ^ low_ >> 29) * high_factor;
  }

  /// Returns whether the keys hold one word. It ignores the spare bits.
  [[nodiscard]] bool same_word(const WordKey& other) const noexcept {
    return ((low_ ^ other.low_) | (high_ ^ other.high_) << 4) == 0;
  }

  [[nodiscard]] std::size_t spare() const noexcept { return high_ >> 60; }
  /// Sets the spare bits, which must be zero.
  void set_spare(std::size_t value) noexcept { high_ |= std::uint64_t{value} << 60; }

  /// Writes the keys of the words from `first` to `end`, and their hashes. Both have room for a
  /// multiple of 8.
  static void write(const WordPositions& words, std::size_t first, std::size_t end, WordKey* keys,
                    std::uint64_t* hashes) noexcept {
#if defined(__x86_64__)
    if (has_avx512()) return write_avx512(words, first, end, keys, hashes);
#endif
    for (; first < end; ++first, ++keys) {
      *keys = of_padded(words[first]);
      *hashes++ = keys->hash();
    }
  }

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

#if defined(__x86_64__)
  /// Returns the 16 bytes at each of four places.
  SEQTRAIN_TEXT_AVX512 static __m512i load_four(const char* bytes,
                                                const std::uint16_t* at) noexcept {
    const auto* const a = reinterpret_cast<const __m128i*>(bytes + at[0]);
    const auto* const b = reinterpret_cast<const __m128i*>(bytes + at[1]);
    const auto* const c = reinterpret_cast<const __m128i*>(bytes + at[2]);
    const auto* const d = reinterpret_cast<const __m128i*>(bytes + at[3]);
    return _mm512_maskz_inserti64x4(0xFF, _mm512_castsi256_si512(_mm256_loadu2_m128i(b, a)),
                                    _mm256_loadu2_m128i(d, c), 1);
  }

  /// Does the work of `write` for eight words at a time.
  SEQTRAIN_TEXT_AVX512 static void write_avx512(const WordPositions& words, std::size_t first,
                                                std::size_t end, WordKey* keys,
                                                std::uint64_t* hashes) noexcept {
    const __m512i ones = _mm512_set1_epi64(-1), half = _mm512_set1_epi64(64);
    const __m512i k_low = _mm512_set1_epi64(static_cast<long long>(low_factor));
    const __m512i k_high = _mm512_set1_epi64(static_cast<long long>(high_factor));
    const __m512i limit = _mm512_set1_epi64(8 * max_bytes);
    const __m512i too_long = _mm512_set1_epi64(static_cast<long long>(frames.back().size));
    const __m512i lows = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i highs = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    const __m512i front = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i back = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    alignas(16) std::array<std::uint16_t, 8> at;
    for (; first < end; first += 8, keys += 8, hashes += 8) {
      const auto mask = static_cast<__mmask8>(
          _bzhi_u32(0xFF, static_cast<unsigned>(std::min<std::size_t>(8, end - first))));
      const __m128i begin = _mm_maskz_loadu_epi16(mask, words.begins + first);
      const __m128i size = _mm_sub_epi16(_mm_maskz_loadu_epi16(mask, words.ends + first), begin);
      const __m512i bits =
          _mm512_maskz_slli_epi64(mask, _mm512_maskz_cvtepu16_epi64(mask, size), 3);
      const __mmask8 fits = _mm512_cmple_epu64_mask(bits, limit);
      const __m512i low_bits = _mm512_maskz_srlv_epi64(mask, ones, _mm512_subs_epu16(half, bits));
      const __m512i high_bits = _mm512_maskz_srlv_epi64(
          mask, ones, _mm512_sub_epi64(half, _mm512_subs_epu16(bits, half)));
      _mm_store_si128(reinterpret_cast<__m128i*>(at.data()), begin);
      const __m512i first_four = load_four(words.bytes, at.data());
      const __m512i last_four = load_four(words.bytes, at.data() + 4);
      const __m512i low = _mm512_maskz_and_epi64(
          fits, low_bits, _mm512_permutex2var_epi64(first_four, lows, last_four));
      const __m512i high = _mm512_mask_or_epi64(
          too_long, fits, _mm512_maskz_slli_epi64(mask, bits, 53),
          _mm512_and_si512(high_bits, _mm512_permutex2var_epi64(first_four, highs, last_four)));
      const __m512i mixed = _mm512_xor_si512(_mm512_maskz_slli_epi64(mask, high, 4),
                                             _mm512_maskz_srli_epi64(mask, low, 29));
      _mm512_storeu_si512(hashes, _mm512_add_epi64(_mm512_mullo_epi64(low, k_low),
                                                   _mm512_mullo_epi64(mixed, k_high)));
      _mm512_storeu_si512(keys, _mm512_permutex2var_epi64(low, front, high));
      _mm512_storeu_si512(keys + 4, _mm512_permutex2var_epi64(low, back, high));
    }
  }
#endif

  static constexpr std::uint64_t low_factor = 0x9E3779B97F4A7C15u;
  static constexpr std::uint64_t high_factor = 0xC2B2AE3D27D4EB4Fu;

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

  /// A word with its ids. It fills half of a cache line.
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
  [[nodiscard]] std::size_t place(const WordKey& key) const noexcept { return place(key.hash()); }
  /// Returns the home of the words with this hash.
  [[nodiscard]] std::size_t place(std::uint64_t hash) const noexcept { return hash >> shift_; }

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
  /// Returns the entry of a word, or null.
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
