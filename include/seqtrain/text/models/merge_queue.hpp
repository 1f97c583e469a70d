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

/// The merges of a long word, the lowest rank first, the leftmost of equals: a radix heap (Ahuja,
/// Mehlhorn, Orlin and Tarjan 1990). Its bucket b holds what differs from the last merge taken
/// first in bit b - 1, so that merges move through memory in order, whatever their number. It asks
/// for what is pushed to come after the last one taken, as it does where a token's parts have lower
/// ranks than the token; whatever does not waits in an ordinary heap, as do all merges of a word so
/// short that a heap of them stays near the processor.
class MergeQueue {
 public:
  struct Entry {
    std::uint32_t rank;
    std::uint32_t position;
  };

  /// `expected`: about how many will wait at once.
  explicit MergeQueue(std::size_t expected)
      : last_{expected > near ? 0 : std::numeric_limits<std::uint64_t>::max()} {}

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  void push(Entry entry) {
    const std::uint64_t key = std::uint64_t{entry.rank} << 32 | entry.position;
    ++size_;
    if (key < last_) return early_.push(key);
    bucket_of(key).push_back(key);
  }

  /// The first one; there must be one.
  Entry pop() {
    --size_;
    const std::uint64_t key = early_.empty() ? pop_bucket() : pop_early();
    return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
  }

 private:
  static constexpr std::size_t near = 4096;  ///< keys: 32 KiB, a first cache's size
  using Keys = std::vector<std::uint64_t>;

  [[nodiscard]] Keys& bucket_of(std::uint64_t key) {
    return buckets_[static_cast<std::size_t>(std::bit_width(key ^ last_))];
  }

  std::uint64_t pop_early() {
    const std::uint64_t key = early_.top();
    early_.pop();
    return key;
  }

  /// Empties the first bucket that holds any into those before it, which its least key opens.
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
  std::uint64_t last_;  ///< taken from the buckets; what is less waits in the heap
  std::size_t size_ = 0;
  std::priority_queue<std::uint64_t, Keys, std::greater<>> early_;
};

}  // namespace seqtrain::text
