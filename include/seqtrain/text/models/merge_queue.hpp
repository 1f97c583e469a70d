#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace seqtrain::text {

/// A queue of the merges of a long word: the lowest rank first, then the leftmost. It is a radix
/// heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990): bucket b holds the keys whose highest bit that
/// differs from the last key taken is bit b - 1, so keys move through memory in order. A radix heap
/// needs new keys to come after the last one taken. That holds if the parts of each token have
/// lower ranks than the token. Other keys wait in an ordinary heap, and so do all merges of a short
/// word, because a small heap stays in the cache.
class MergeQueue {
 public:
  struct Entry {
    std::uint32_t rank;
    std::uint32_t position;
  };

  /// `expected` is about how many merges are queued at once.
  explicit MergeQueue(std::size_t expected)
      : last_{expected > near ? 0 : std::numeric_limits<std::uint64_t>::max()} {}

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  void push(Entry entry) {
    const std::uint64_t key = std::uint64_t{entry.rank} << 32 | entry.position;
    ++size_;
    if (key < last_) return early_.push(key);
    bucket_of(key).push_back(key);
  }

  /// Removes and returns the first merge. The queue must not be empty.
  Entry pop() {
    --size_;
    const std::uint64_t key = early_.empty() ? pop_bucket() : pop_early();
    return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
  }

 private:
  static constexpr std::size_t near = 4096;  ///< in keys: 32 KiB, the size of a first-level cache
  using Keys = std::vector<std::uint64_t>;

  [[nodiscard]] Keys& bucket_of(std::uint64_t key) {
    return buckets_[static_cast<std::size_t>(std::bit_width(key ^ last_))];
  }

  std::uint64_t pop_early() {
    const std::uint64_t key = early_.top();
    early_.pop();
    return key;
  }

  /// Empties the first non-empty bucket into the buckets before it and returns its least key.
  std::uint64_t pop_bucket() {
    if (buckets_[0].empty()) {
      Keys& first = *std::ranges::find_if_not(buckets_, &Keys::empty);
      last_ = *std::ranges::min_element(first);
      for (const std::uint64_t key : first) bucket_of(key).push_back(key);
      first.clear();
    }
    buckets_[0].pop_back();
    return last_;
  }

  std::array<Keys, 65> buckets_;
  std::uint64_t last_;  ///< last key taken from the buckets; smaller keys wait in the heap
  std::size_t size_ = 0;
  std::priority_queue<std::uint64_t, Keys, std::greater<>> early_;
};

}  // namespace seqtrain::text
