#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/text/encoding.hpp>

namespace seqtrain::text {

/// A trie of strings with ids in a double array (Aoe 1989). The child of a node by a byte is at
/// (base of the node) XOR (byte), and exists if its `check` is the node. One step costs one load.
class DoubleArray {
 public:
  static constexpr Id no_id = -1;

  /// An element of the array.
  struct Node {
    std::uint32_t base = 0;
    std::uint32_t check = free_check;  ///< the place of the parent
    Id id = no_id;                     ///< the id of the string that ends here
  };

  /// Builds the trie. If a string is repeated, its last id counts.
  explicit DoubleArray(std::vector<std::pair<std::string_view, Id>> strings) {
    std::ranges::stable_sort(strings, {}, &std::pair<std::string_view, Id>::first);
    grow(1);
    take(0, 0);
    insert(strings);
    next_free_ = {};
  }

  /// Returns the id of a whole string, or `no_id`.
  [[nodiscard]] Id find(std::string_view text) const noexcept {
    std::uint32_t node = root;
    for (const char c : text) {
      if ((node = child(node, c)) == root) return no_id;
    }
    return text.empty() ? no_id : nodes_[node].id;
  }

  /// Calls use(size, id) for each string that `text` begins with, the shortest first, with its size
  /// in bytes.
  template <class Use>
  void for_each_prefix(std::string_view text, const Use& use) const {
    std::uint32_t node = root;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if ((node = child(node, text[i])) == root) return;
      if (const Id id = nodes_[node].id; id != no_id) use(i + 1, id);
    }
  }

  /// Returns the length in bytes of the longest string that `text` begins with, or 0.
  [[nodiscard]] std::size_t longest_prefix(std::string_view text) const noexcept {
    std::size_t longest = 0;
    for_each_prefix(text, [&](std::size_t size, Id) { longest = size; });
    return longest;
  }

 private:
  static constexpr std::uint32_t root = 0;
  static constexpr std::uint32_t free_check = 0xFFFFFFFF;
  using Strings = std::vector<std::pair<std::string_view, Id>>;

  /// Returns the child of `node` by a byte, or `root` if there is none.
  [[nodiscard]] std::uint32_t child(std::uint32_t node, char byte) const noexcept {
    const std::uint32_t at = nodes_[node].base ^ static_cast<unsigned char>(byte);
    return nodes_[at].check == node ? at : root;
  }

  void grow(std::size_t nodes) {
    while (nodes_.size() < nodes) nodes_.resize(nodes_.size() + 256);
    for (std::size_t i = next_free_.size(); i <= nodes_.size(); ++i) {
      next_free_.push_back(static_cast<std::uint32_t>(i));
    }
  }

  /// Returns the first free place from `at` on. Taken places are joined by union-find.
  std::uint32_t first_free(std::uint32_t at) {
    std::uint32_t end = at;
    while (next_free_[end] != end) end = next_free_[end];
    while (next_free_[at] != end) at = std::exchange(next_free_[at], end);
    return end;
  }

  void take(std::uint32_t at, std::uint32_t parent) {
    nodes_[at].check = parent;
    next_free_[at] = at + 1;
  }

  /// Strings that share their first bytes, and the node that these bytes lead to.
  struct Branch {
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
    std::uint32_t node;
  };
  struct Group {
    unsigned char label;
    std::size_t begin;
  };

  void insert(const Strings& strings) {
    std::vector<Branch> waiting{{0, strings.size(), 0, root}};
    std::vector<Group> groups;
    while (!waiting.empty()) {
      Branch branch = waiting.back();
      waiting.pop_back();
      while (branch.begin < branch.end && strings[branch.begin].first.size() == branch.depth) {
        if (branch.depth > 0) nodes_[branch.node].id = strings[branch.begin].second;
        ++branch.begin;
      }
      if (branch.begin == branch.end) continue;
      groups.clear();
      for (std::size_t i = branch.begin; i < branch.end; ++i) {
        const auto label = static_cast<unsigned char>(strings[i].first[branch.depth]);
        if (groups.empty() || groups.back().label != label) groups.push_back({label, i});
      }
      const std::uint32_t base = find_base(groups);
      nodes_[branch.node].base = base;
      for (std::size_t i = groups.size(); i-- > 0;) {
        const std::size_t end = i + 1 < groups.size() ? groups[i + 1].begin : branch.end;
        take(base ^ groups[i].label, branch.node);
        waiting.push_back({groups[i].begin, end, branch.depth + 1, base ^ groups[i].label});
      }
    }
  }

  /// Returns a base for which all places of a group are free. After some failed attempts later
  /// searches begin further on.
  std::uint32_t find_base(const std::vector<Group>& groups) {
    std::uint32_t& start = start_[std::min<std::size_t>(groups.size(), std::size(start_)) - 1];
    std::uint32_t at = first_free(start);
    for (int tries = 0;; ++tries) {
      grow(std::size_t{at} + 1);
      const std::uint32_t base = at ^ groups[0].label;
      const bool fits = std::ranges::all_of(groups, [&](const Group& group) {
        return nodes_[base ^ group.label].check == free_check;
      });
      if (fits) {
        if (tries > 32) start = at;
        return base;
      }
      at = first_free(at + 1);
    }
  }

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> next_free_;  ///< used only while the trie is built
  std::uint32_t start_[8] = {};           ///< start of the search, by the number of children
};

}  // namespace seqtrain::text
