#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace seqtrain::dist {

/// A run of leaves [first, last) of the tree by which the gradients of a step are summed. A tree
/// over n leaves has two subtrees: the number of leaves on the left is the largest power of two
/// below n, the rest is on the right. So the tree depends only on n.
struct Leaves {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] std::int64_t size() const { return last - first; }
  /// Tells whether the other leaves are among these.
  [[nodiscard]] bool holds(const Leaves& other) const {
    return first <= other.first && other.last <= last;
  }

  /// Returns the two subtrees of a node that has at least two leaves.
  [[nodiscard]] std::pair<Leaves, Leaves> children() const {
    const auto left = std::bit_floor(static_cast<std::uint64_t>(size() - 1));
    const std::int64_t middle = first + static_cast<std::int64_t>(left);
    return {{first, middle}, {middle, last}};
  }

  friend bool operator==(const Leaves&, const Leaves&) = default;
};

/// Returns the leaves that a rank computes. Ranks have consecutive runs of nearly equal length.
[[nodiscard]] inline Leaves leaves_of(std::int64_t rank, std::int64_t ranks,
                                      std::int64_t replicas) {
  return {replicas * rank / ranks, replicas * (rank + 1) / ranks};
}

/// Returns the largest subtrees of the tree under `node` whose leaves are all in `held`, from left
/// to right.
[[nodiscard]] inline std::vector<Leaves> largest_subtrees(const Leaves& node, const Leaves& held) {
  if (node.size() <= 0 || node.last <= held.first || held.last <= node.first) return {};
  if (held.holds(node)) return {node};
  const auto [left, right] = node.children();
  auto result = largest_subtrees(left, held);
  for (const Leaves& subtree : largest_subtrees(right, held)) result.push_back(subtree);
  return result;
}

}  // namespace seqtrain::dist
