#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/core/peak_memory.hpp>

namespace seqtrain {
namespace {

TEST(PeakMemory, GrowsWithMemoryThatIsTouchedAndStays) {
  const double before = peak_memory_mib();
  EXPECT_GT(before, 0);
  constexpr std::size_t mib = std::size_t{1} << 20;
  {
    const std::vector<char> memory(64 * mib, 'x');
    asm volatile("" : : "r"(memory.data()) : "memory");  // somebody could read it
  }
  EXPECT_GE(peak_memory_mib(), 62);
  EXPECT_LT(peak_memory_mib(), before + 512);  // sanitizers keep several bytes for each
}

}  // namespace
}  // namespace seqtrain
