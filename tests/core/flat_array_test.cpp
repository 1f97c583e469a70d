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
  EXPECT_EQ(array.back(), 99'999);
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

TEST(FlatArray, RefusesMoreThanMemoryHolds) {
  FlatArray<std::uint64_t> array;
  array.push_back(1);
  EXPECT_THROW(array.extend(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_EQ(array.size(), 1u);
}

}  // namespace
}  // namespace seqtrain
