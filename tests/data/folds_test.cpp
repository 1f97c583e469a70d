#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/data/folds.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::data {
namespace {

using Folds = std::vector<std::vector<std::size_t>>;

/// Returns how many rows of a fold have a label.
std::ptrdiff_t count(const std::vector<std::size_t>& rows, const std::vector<std::int32_t>& labels,
                     std::int32_t label) {
  return std::ranges::count_if(rows, [&](std::size_t row) { return labels[row] == label; });
}

/// Returns all rows of all folds, each in ascending order.
std::vector<std::size_t> all_rows(const Folds& folds) {
  std::vector<std::size_t> all;
  for (const auto& rows : folds) {
    EXPECT_TRUE(std::ranges::is_sorted(rows));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  std::ranges::sort(all);
  return all;
}

TEST(FoldsByLabel, HaveEachRowOnceAndEqualSharesOfEachLabel) {
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < 103; ++i) labels.push_back(i % 10 == 0 ? 1 : i % 7 == 0 ? 2 : 0);
  const Folds folds = folds_by_label(labels, 5, 1);
  ASSERT_EQ(folds.size(), 5U);
  const auto all = all_rows(folds);
  ASSERT_EQ(all.size(), 103U);
  for (std::size_t row = 0; row < 103; ++row) EXPECT_EQ(all[row], row);
  for (const auto& rows : folds) {
    EXPECT_LE(rows.size(), 21U);
    EXPECT_GE(rows.size(), 20U);
    for (const std::int32_t label : {0, 1, 2}) {
      const auto whole = std::ranges::count(labels, label);
      EXPECT_GE(count(rows, labels, label), whole / 5);
      EXPECT_LE(count(rows, labels, label), whole / 5 + 1);
    }
  }
  EXPECT_EQ(folds_by_label(labels, 5, 1), folds);
  EXPECT_NE(folds_by_label(labels, 5, 2), folds);
}

TEST(FoldsByLabel, LeaveOutRowsWithoutALabel) {
  const std::vector<std::int32_t> labels{0, -1, 1, 0, -1, 1};
  EXPECT_EQ(all_rows(folds_by_label(labels, 2, 7)), (std::vector<std::size_t>{0, 2, 3, 5}));
}

TEST(FoldsByLabel, RefuseMoreFoldsThanALabelHasRows) {
  const std::vector<std::int32_t> labels{0, 0, 0, 1, 1};
  EXPECT_EQ(tests::problem_of([&] { (void)folds_by_label(labels, 3, 1); }),
            "folds: label 1: has fewer rows than folds");
  EXPECT_EQ(tests::problem_of([&] { (void)folds_by_label(labels, 1, 1); }),
            "folds: folds: must be two or more");
  EXPECT_EQ(folds_by_label(labels, 2, 1).size(), 2U);
}

TEST(FoldsByGroup, KeepGroupsTogetherWithEqualSharesOfLabels) {
  std::vector<std::int32_t> labels;
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < 400; ++i) {
    groups.push_back("writer " + std::to_string(i * i % 41));
    labels.push_back(i % 5 == 0 ? 1 : 0);
  }
  const Folds folds = folds_by_group(labels, groups, 4, 3);
  EXPECT_EQ(all_rows(folds).size(), 400U);
  std::set<std::string> seen;
  for (const auto& rows : folds) {
    std::set<std::string> names;
    for (const std::size_t row : rows) names.insert(groups[row]);
    for (const auto& name : names) EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_NEAR(static_cast<double>(rows.size()), 100, 15);
    EXPECT_NEAR(static_cast<double>(count(rows, labels, 1)), 20, 6);
  }
  EXPECT_EQ(folds_by_group(labels, groups, 4, 3), folds);
}

TEST(FoldsByGroup, RefuseFewerGroupsThanFolds) {
  const std::vector<std::int32_t> labels{0, 1, 0, -1};
  const std::vector<std::string> groups{"a", "b", "a", "c"};  // c has a row without a label
  EXPECT_EQ(all_rows(folds_by_group(labels, groups, 2, 1)), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(tests::problem_of([&] { (void)folds_by_group(labels, groups, 3, 1); }),
            "folds: groups: are fewer than folds");
}

}  // namespace
}  // namespace seqtrain::data
