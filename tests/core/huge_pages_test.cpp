#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

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

TEST(HugePages, LargeMemoryGoesBackToTheSystem) {
  constexpr std::size_t size = (std::size_t{5} << 20) + 1;
  HugePageAllocator<char> allocator;
  char* const memory = allocator.allocate(size);
  std::fill_n(memory, size, 'x');
  const auto is_mapped = [](char* page) {
    unsigned char resident = 0;
    return ::mincore(page, 1, &resident) == 0;
  };
  char* const last = memory + (size - 1) / 4096 * 4096;
  EXPECT_TRUE(is_mapped(memory));
  EXPECT_TRUE(is_mapped(last));
  allocator.deallocate(memory, size);
  EXPECT_FALSE(is_mapped(memory));
  EXPECT_FALSE(is_mapped(last));
}

}  // namespace
}  // namespace seqtrain
