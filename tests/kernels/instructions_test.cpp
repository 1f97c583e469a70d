#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include <seqtrain/kernels/instructions.hpp>

#if SEQTRAIN_HAS_CLONES
namespace seqtrain::kernels::instruction {
namespace {

TEST(Instructions, TakeSquareRootsOfAllLanes) {
  float numbers[16];
  for (std::size_t i = 0; i < 16; ++i) numbers[i] = static_cast<float>(i) + 0.7F;
  vectorised([to = &numbers[0]]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    typename Width<width>::Floats x;
    for (std::size_t i = 0; i < 16; i += width) {
      std::memcpy(&x, to + i, sizeof x);
      square_root(x);
      std::memcpy(to + i, &x, sizeof x);
    }
  });
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(numbers[i], std::sqrt(static_cast<float>(i) + 0.7F)) << i;
  }
}

TEST(Instructions, MultiplyPairsWithoutSaturation) {
  std::int32_t words[16];
  for (auto& word : words) word = 255 | 255 << 16;
  vectorised([to = &words[0]]<std::size_t width>(Width<width>) SEQTRAIN_INLINE_LAMBDA {
    constexpr auto factors = static_cast<std::int32_t>(0xff80007f);  // 127 and -128
    typename Width<width>::Ints a;
    for (std::size_t i = 0; i < 16; i += width) {
      std::memcpy(&a, to + i, sizeof a);
      multiply_pairs(a, typename Width<width>::Ints{} + factors);
      std::memcpy(to + i, &a, sizeof a);
    }
  });
  for (const auto word : words) EXPECT_EQ(word, 255 * 127 - 255 * 128);
}

}  // namespace
}  // namespace seqtrain::kernels::instruction
#endif
