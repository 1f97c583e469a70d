#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/random.hpp>
#include <seqtrain/dist/tree.hpp>

namespace seqtrain::dist {
namespace {

using Numbers = std::vector<float>;

/// Returns the sum of the leaves of a node by the definition of the tree.
float sum_of(const Leaves& node, const Numbers& leaves) {
  if (node.size() == 1) return leaves[static_cast<std::size_t>(node.first)];
  const auto [left, right] = node.children();
  return sum_of(left, leaves) + sum_of(right, leaves);
}

/// Returns the sum that the ranks compute from the sums of their largest subtrees.
float sum_of(const Leaves& node,
             const std::map<std::pair<std::int64_t, std::int64_t>, float>& known) {
  const auto found = known.find({node.first, node.last});
  if (found != known.end()) return found->second;
  const auto [left, right] = node.children();
  return sum_of(left, known) + sum_of(right, known);
}

Numbers some_numbers(std::int64_t count) {
  const random::Stream stream{5, random::Purpose::data, static_cast<std::uint64_t>(count)};
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = stream.at(static_cast<std::uint64_t>(i));
    const auto size = static_cast<float>(std::int64_t{1} << (bits >> 40 & 31));
    numbers.push_back(static_cast<float>(static_cast<std::int32_t>(bits)) / size);
  }
  return numbers;
}

TEST(Tree, HasAPowerOfTwoOfLeavesOnTheLeft) {
  EXPECT_EQ((Leaves{0, 2}.children()), (std::pair<Leaves, Leaves>{{0, 1}, {1, 2}}));
  EXPECT_EQ((Leaves{0, 7}.children()), (std::pair<Leaves, Leaves>{{0, 4}, {4, 7}}));
  EXPECT_EQ((Leaves{4, 7}.children()), (std::pair<Leaves, Leaves>{{4, 6}, {6, 7}}));
  EXPECT_EQ((Leaves{0, 8}.children()), (std::pair<Leaves, Leaves>{{0, 4}, {4, 8}}));
}

TEST(Tree, DealsAllLeavesInRunsOfNearlyEqualLength) {
  for (std::int64_t replicas = 1; replicas <= 40; ++replicas) {
    for (std::int64_t ranks = 1; ranks <= replicas; ++ranks) {
      std::int64_t next = 0;
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const Leaves leaves = leaves_of(rank, ranks, replicas);
        EXPECT_EQ(leaves.first, next);
        EXPECT_GE(leaves.size(), replicas / ranks);
        EXPECT_LE(leaves.size(), (replicas + ranks - 1) / ranks);
        next = leaves.last;
      }
      EXPECT_EQ(next, replicas);
    }
  }
}

TEST(Tree, NamesTheLargestSubtrees) {
  EXPECT_EQ(largest_subtrees({0, 8}, {0, 8}), (std::vector<Leaves>{{0, 8}}));
  EXPECT_EQ(largest_subtrees({0, 8}, {0, 3}), (std::vector<Leaves>{{0, 2}, {2, 3}}));
  EXPECT_EQ(largest_subtrees({0, 8}, {3, 6}), (std::vector<Leaves>{{3, 4}, {4, 6}}));
  EXPECT_EQ(largest_subtrees({0, 7}, {4, 7}), (std::vector<Leaves>{{4, 7}}));
  EXPECT_EQ(largest_subtrees({0, 3}, {4, 7}), std::vector<Leaves>{});
  EXPECT_EQ(largest_subtrees({0, 0}, {0, 2}), std::vector<Leaves>{});
}

TEST(Tree, GivesTheSameBitsAtAnyNumberOfRanks) {
  for (std::int64_t replicas = 1; replicas <= 33; ++replicas) {
    for (std::int64_t parts = 1; parts <= replicas; ++parts) {
      const Numbers leaves = some_numbers(parts);
      const float expected = sum_of({0, parts}, leaves);
      for (std::int64_t ranks = 1; ranks <= replicas; ++ranks) {
        std::map<std::pair<std::int64_t, std::int64_t>, float> known;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          for (const auto& tree : largest_subtrees({0, parts}, leaves_of(rank, ranks, replicas))) {
            known[{tree.first, tree.last}] = sum_of(tree, leaves);
          }
        }
        ASSERT_EQ(sum_of({0, parts}, known), expected) << replicas << " " << parts << " " << ranks;
      }
    }
  }
}

}  // namespace
}  // namespace seqtrain::dist
