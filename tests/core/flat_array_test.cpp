#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/flat_array.hpp>

namespace seqtrain {
namespace {

std::vector<int> values_of(const FlatArray<int>& array) {
  return {array.begin(), array.end()};
}

TEST(FlatArray, KeepsItsValuesWhileItGrows) {
  FlatArray<int> array;
  for (int i = 0; i < 100'000; ++i) array.push_back(i);
  ASSERT_EQ(array.size(), 100'000u);
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(array[static_cast<std::size_t>(i)], i);
  array.shrink_to_fit();
  EXPECT_EQ(array.capacity(), array.size());
  EXPECT_EQ(array[array.size() - 1], 99'999);
}

TEST(FlatArray, AppendsAndTruncates) {
  FlatArray<int> array;
  array.append({});
  EXPECT_TRUE(array.empty());
  array.append(std::vector<int>{1, 2, 3, 4});
  array.truncate(2);
  array.truncate(9);
  array.append(std::vector<int>{5});
  EXPECT_EQ(values_of(array), (std::vector<int>{1, 2, 5}));
}

TEST(FlatArray, CopiesAndMoves) {
  FlatArray<int> first;
  first.append(std::vector<int>{1, 2});
  FlatArray<int> second = first;
  second.push_back(3);
  EXPECT_EQ(values_of(first), (std::vector<int>{1, 2}));
  first = std::move(second);
  EXPECT_EQ(values_of(first), (std::vector<int>{1, 2, 3}));
  const FlatArray<int> empty;
  first = empty;
  EXPECT_TRUE(first.empty());
}

TEST(FlatArray, ViewsWhatLiesElsewhere) {
  const std::vector<int> values{1, 2, 3};
  FlatArray<int> view = FlatArray<int>::view(values);
  FlatArray<int> copy = view;
  EXPECT_EQ(view.begin(), values.data());
  EXPECT_EQ(copy.begin(), values.data());
  EXPECT_EQ(view.capacity(), 0u);
  view.shrink_to_fit();
  view.truncate(2);
  EXPECT_EQ(view.begin(), values.data());
  view.push_back(9);
  copy.append(values);
  EXPECT_EQ(values_of(view), (std::vector<int>{1, 2, 9}));
  EXPECT_EQ(values_of(copy), (std::vector<int>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(values, (std::vector<int>{1, 2, 3}));
  EXPECT_GE(view.capacity(), 3u);
  view = FlatArray<int>::view({});
  EXPECT_TRUE(view.empty());
  view.push_back(4);
  EXPECT_EQ(values_of(view), std::vector<int>{4});
}

TEST(FlatArray, RefusesMoreThanMemoryHolds) {
  FlatArray<std::uint64_t> array;
  array.push_back(1);
  EXPECT_THROW(array.extend(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_EQ(array.size(), 1u);
}

}  // namespace
}  // namespace seqtrain
