#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include <seqtrain/text/encoding.hpp>
#include <seqtrain/text/models/merge_table.hpp>

namespace seqtrain::text {

/// A queue of the merges of a long word: the lowest rank first, then the leftmost. It is a radix
/// heap (Ahuja, Mehlhorn, Orlin and Tarjan 1990): bucket b holds the keys whose highest bit that
/// differs from the last key taken is bit b - 1, so keys move through memory in order. A radix heap
/// needs new keys to come after the last one taken. That holds if the parts of each token have
/// lower ranks than the token. Other keys wait in an ordinary heap, and so do all merges of a short
/// word, because a small heap stays in the cache.
class MergeQueue {
 public:
  /// A merge that may be next: its rank, and the position of its left part.
  struct Entry {
    std::uint32_t rank;
    std::uint32_t position;
  };

  /// `expected` is about how many merges are queued at once.
  explicit MergeQueue(std::size_t expected)
      : last_{expected > near ? 0 : std::numeric_limits<std::uint64_t>::max()} {}

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// Adds a merge.
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
  static constexpr std::size_t near = 4096;  ///< the number of keys in 32 KiB, a first-level cache
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

/// The symbols of a word and a queue of their possible merges. A symbol's id is kept at the first
/// place of its span. The length of the span is kept at its first and its last place, where the
/// neighbours read it. This takes half the memory of a linked list.
class MergingWord {
  using Position = std::uint32_t;  ///< index among the symbols that the word began as
  using Span = std::uint16_t;      ///< number of those symbols that one symbol covers
  static constexpr Id absent = -1;

 public:
  static constexpr std::size_t max_symbols = std::numeric_limits<Position>::max();
  static constexpr std::size_t longest_token = std::numeric_limits<Span>::max();

  /// `results` are the ids of the merged tokens by rank. `size` is about how many symbols are
  /// added.
  MergingWord(const MergeTable& merges, std::span<const Id> results, std::size_t size)
      : merges_{merges}, results_{results}, queue_{size} {
    ids_.reserve(size);
  }

  void add(Id id) { ids_.push_back(id); }

  void merge_all() {
    spans_.assign(ids_.size(), 1);
    for (Position i = 0; i + 1 < size(); ++i) queue_pair(i);
    while (!queue_.empty()) {
      const auto [rank, position] = queue_.pop();
      const Id result = results_[rank];
      if (is_current(position, result)) merge(position, result);
    }
  }

  /// Calls `fn` with the id of each token, in order.
  template <class Fn>
  void for_each(Fn&& fn) const {
    for (Position i = 0; i < size(); i = next(i)) fn(ids_[i]);
  }

 private:
  [[nodiscard]] Position size() const { return static_cast<Position>(ids_.size()); }
  [[nodiscard]] Position next(Position position) const { return position + spans_[position]; }
  [[nodiscard]] Position previous(Position position) const {
    return position - spans_[position - 1];
  }

  [[nodiscard]] Merge merge_at(Position position) const {
    return merges_.find(ids_[position], ids_[next(position)]);
  }

  void queue_pair(Position position) {
    if (const Merge found = merge_at(position); found.rank != Merge::none) {
      queue_.push({found.rank, position});
    }
  }

  /// Returns whether the two symbols still merge to `result`. Their merge may now have another rank
  /// if several pairs give that result; the reference takes the queued merge all the same.
  [[nodiscard]] bool is_current(Position position, Id result) const {
    if (ids_[position] == absent || next(position) >= size()) return false;
    const Merge now = merge_at(position);
    return now.rank != Merge::none && now.result == result;
  }

  void merge(Position position, Id result) {
    const Position right = next(position);
    const Position end = next(right);
    ids_[position] = result;
    ids_[right] = absent;
    spans_[position] = spans_[end - 1] = static_cast<Span>(end - position);
    if (position > 0) queue_pair(previous(position));
    if (end < size()) queue_pair(position);
  }

  const MergeTable& merges_;
  std::span<const Id> results_;
  std::vector<Id> ids_;
  std::vector<Span> spans_;
  MergeQueue queue_;
};

}  // namespace seqtrain::text
