#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/tensor/row_set.hpp>

namespace seqtrain::tensor {
namespace {

using Runs = std::vector<std::pair<std::size_t, std::size_t>>;

Runs runs(const RowSet& set) {
  Runs result;
  set.for_each_run([&](std::size_t first, std::size_t end) { result.emplace_back(first, end); });
  return result;
}

TEST(RowSet, TellsRunsInTheirOrder) {
  RowSet set{8};
  EXPECT_EQ(set.rows(), 8U);
  EXPECT_EQ(runs(set), Runs{});
  for (const std::size_t row : {7U, 2U, 0U, 3U, 2U}) set.insert(row);
  EXPECT_EQ(runs(set), (Runs{{0, 1}, {2, 4}, {7, 8}}));
}

TEST(RowSet, HasTheRowsThatAnotherHasNot) {
  RowSet set{5};
  RowSet other{5};
  set.fill();
  EXPECT_EQ(runs(set), (Runs{{0, 5}}));
  other.insert(1);
  other.insert(4);
  set.remove(other);
  EXPECT_EQ(runs(set), (Runs{{0, 1}, {2, 4}}));
  set.remove(set);
  EXPECT_EQ(runs(set), Runs{});
}

TEST(RowSet, RemembersWhichChangesItTakesIntoAccount) {
  RowSet set{4};
  EXPECT_EQ(set.changes(), 0);
  set.take_into_account(7);
  set.clear();
  EXPECT_EQ(set.changes(), 7);
}

TEST(RowSet, TakesInAnotherAndForgets) {
  RowSet set{4};
  RowSet other{4};
  set.insert(1);
  other.insert(2);
  set.insert(other);
  EXPECT_EQ(runs(set), (Runs{{1, 3}}));
  set.clear();
  EXPECT_EQ(runs(set), Runs{});
}

}  // namespace
}  // namespace seqtrain::tensor
