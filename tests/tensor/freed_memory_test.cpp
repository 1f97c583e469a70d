#include <cstddef>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <seqtrain/tensor/freed_memory.hpp>

namespace seqtrain::tensor {
namespace {

/// Returns the number of pages, of 4 KiB each, that the system had to find for 64 MiB.
long pages_for_large_array() {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const std::vector<char> array(std::size_t{1} << 26, 'x');
  getrusage(RUSAGE_SELF, &after);
  EXPECT_EQ(array.back(), 'x');
  return after.ru_minflt - before.ru_minflt;
}

TEST(FreedMemory, IsUsedAgain) {
  keep_freed_memory();
  pages_for_large_array();
  EXPECT_LT(pages_for_large_array(), 4096);  // 16384 if the memory had been returned to the system
}

}  // namespace
}  // namespace seqtrain::tensor
