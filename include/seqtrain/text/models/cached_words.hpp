#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/long_word_cache.hpp>
#include <seqtrain/text/models/word_cache.hpp>

namespace seqtrain::text {

/// The ids of words that one pipeline has encoded, and the loop that looks words up in batches.
class CachedWords {
 public:
  static constexpr std::size_t max_batch = 128;

  /// Identifies a pipeline. Copies have equal ids and identify one pipeline.
  class Owner {
    friend CachedWords;
    static inline std::atomic<std::uint64_t> last{0};
    std::uint64_t number_ = ++last;
  };

  /// Forgets the ids of other pipelines. Call it before any other function.
  void begin(const Owner& owner) {
    if (std::exchange(cached_for_, owner.number_) == owner.number_) return;
    short_.reset();
    has_long_ = false;
  }

  /// Returns the entry of a short word, or null. It is valid until the next insertion.
  [[nodiscard]] const WordCache::Entry* find(const WordKey& key) const { return short_.find(key); }

  /// Stores the ids of a short word. Returns false if there are too many.
  bool insert(const WordKey& key, std::span<const Id> ids) {
    if (ids.size() > WordCache::max_ids) return false;
    short_.insert(key, ids);
    return true;
  }

  /// Appends the ids of `count` words, from number `first` on. It prefetches the cache lines of all
  /// of them before it reads the first. `before(i, flush)` may append ids before word i, after
  /// `flush()`. `encode(word, key)` encodes a word that the cache of short words does not hold;
  /// if it returns false, the function stops and returns false.
  template <class Words, class Before, class Encode>
  bool append(const Words& words, std::size_t first, std::size_t count, const Before& before,
              const Encode& encode, std::vector<Id>& out) {
    if constexpr (requires { words.positions(); }) {
      WordKey::write(words.positions(), first, first + count, keys_.data(), hashes_.data());
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        keys_[i] = words.key(first + i);
        hashes_[i] = keys_[i].hash();
      }
    }
    for (std::size_t i = 0; i < count; ++i) short_.prefetch(short_.place(hashes_[i]));
    std::array<Id, max_batch * WordCache::max_ids> ids;
    Id* end = ids.data();
    const auto flush = [&] { out.insert(out.end(), ids.data(), std::exchange(end, ids.data())); };
    for (std::size_t i = 0; i < count; ++i) {
      before(first + i, flush);
      if (const auto* entry = short_.find(keys_[i], short_.place(hashes_[i]))) [[likely]] {
        std::memcpy(end, entry->ids.data(), sizeof entry->ids);
        end += entry->count();
      } else {
        flush();
        if (!encode(words[first + i], keys_[i])) return false;
      }
    }
    flush();
    return true;
  }

  /// Appends the ids of words, `batch` words at a time, until `limit` ids or more are appended.
  template <class Words, class Encode>
  void append_all(const Words& words, std::size_t batch, std::size_t limit, const Encode& encode,
                  std::vector<Id>& out) {
    const std::size_t begin = out.size();
    const auto nothing = [](std::size_t, const auto&) {};
    for (std::size_t i = 0; i < words.size() && out.size() - begin < limit; i += batch) {
      append(words, i, std::min(batch, words.size() - i), nothing, encode, out);
    }
  }

  /// Appends the ids of a word that the cache of short words does not hold, from a second cache of
  /// words that are too long for a key or have many ids. If that does not hold it either, calls
  /// `encode()`, which appends the ids or returns false.
  template <class Encode>
  [[gnu::noinline]] bool append_rare(std::string_view word, const WordKey& key,
                                     std::vector<Id>& out, const Encode& encode) {
    if (!std::exchange(has_long_, true)) long_.reset();
    if (const auto ids = long_.find(word); !ids.empty()) {
      out.insert(out.end(), ids.begin(), ids.end());
      return true;
    }
    const std::size_t begin = out.size();
    if (!encode()) return false;
    const auto ids = std::span<const Id>{out}.subspan(begin);
    if (word.size() > WordKey::max_bytes || !insert(key, ids)) long_.insert(word, ids);
    return true;
  }

 private:
  WordCache short_;
  LongWordCache long_;
  bool has_long_ = false;  ///< `long_` holds words of this pipeline
  std::uint64_t cached_for_ = 0;
  std::array<WordKey, max_batch> keys_;
  std::array<std::uint64_t, max_batch> hashes_{};
};

}  // namespace seqtrain::text
