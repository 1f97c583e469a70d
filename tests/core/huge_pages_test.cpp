#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/huge_pages.hpp>

namespace seqtrain {
namespace {

template <class T>
std::uintptr_t address(const std::vector<T, HugePageAllocator<T>>& numbers) {
  return reinterpret_cast<std::uintptr_t>(numbers.data());
}

TEST(HugePages, SmallMemoryBeginsACacheLine) {
  for (std::size_t count = 1; count < 200; count += 7) {
    EXPECT_EQ(address(std::vector<char, HugePageAllocator<char>>(count)) % 64, 0U) << count;
  }
}

TEST(HugePages, LargeMemoryBeginsAPage) {
  constexpr std::size_t page = std::size_t{2} << 20;
  const std::vector<float, HugePageAllocator<float>> numbers(page / sizeof(float));
  EXPECT_EQ(address(numbers) % page, 0U);
}

}  // namespace
}  // namespace seqtrain
