#include <gtest/gtest.h>

#include <seqtrain/kernels/clones.hpp>

namespace seqtrain::kernels {
namespace {

TEST(Vectorised, FillsTheWidestRegistersOfThisMachine) {
  std::size_t found = 0;
  vectorised([to = &found]<std::size_t width>(Width<width>)
                 SEQTRAIN_INLINE_LAMBDA { *to = width; });
#if defined(__x86_64__)
  const bool wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(found, wide ? 16u : __builtin_cpu_supports("avx2") ? 8u : 4u);
#else
  EXPECT_EQ(found, 4u);
#endif
}

}  // namespace
}  // namespace seqtrain::kernels
