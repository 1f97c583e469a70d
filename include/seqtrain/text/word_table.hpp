#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <seqtrain/core/huge_pages.hpp>
#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/word_cache.hpp>

namespace seqtrain::text {

/// Remembers the ids of short words: a hash table with open addressing that grows up to 8 MiB and
/// then begins anew. Words that came early, and so the frequent ones, are found at once.
class WordTable {
 public:
  static constexpr std::size_t max_ids = 4;

  struct alignas(32) Entry {
    WordKey key = {};  ///< the number of ids is in its spare bits
    std::array<Id, max_ids> ids = {};

    [[nodiscard]] std::size_t count() const noexcept { return key.spare(); }
    [[nodiscard]] bool empty() const noexcept { return key.same_word(WordKey{}); }
  };

  /// Forgets everything. It may not be asked before this is called first.
  void reset() { resize(first_log2); }

  /// Where a word's search begins. Valid until the next `insert`.
  [[nodiscard]] std::size_t place(const WordKey& key) const noexcept {
    return key.hash() >> shift_;
  }

  /// Says that `find` will be asked there soon.
  void prefetch(std::size_t place) const noexcept { __builtin_prefetch(&entries_[place]); }

  /// The entry of a word, or null.
  [[nodiscard]] const Entry* find(const WordKey& key, std::size_t place) const noexcept {
    while (!entries_[place].key.same_word(key)) {
      if (entries_[place].empty()) return nullptr;
      place = (place + 1) & (entries_.size() - 1);
    }
    return &entries_[place];
  }

  /// The word must not be there. Does nothing where it has more than `max_ids` ids.
  void insert(const WordKey& key, std::span<const Id> ids) {
    if (ids.size() > max_ids) return;
    if (4 * used_ > 3 * entries_.size()) grow();
    Entry entry{.key = key};
    entry.key.set_spare(ids.size());
    std::ranges::copy(ids, entry.ids.begin());
    add(entry);
  }

 private:
  static constexpr int first_log2 = 12;
  static constexpr int last_log2 = 18;

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
    const int log2 = 64 - shift_;
    if (log2 == last_log2) return resize(last_log2);
    const auto old = std::exchange(entries_, {});
    resize(log2 + 1);
    for (const Entry& entry : old) {
      if (!entry.empty()) add(entry);
    }
  }

  std::vector<Entry, HugePageAllocator<Entry>> entries_;
  std::size_t used_ = 0;
  int shift_ = 64;
};

}  // namespace seqtrain::text
