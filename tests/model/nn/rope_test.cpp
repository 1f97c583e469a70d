#include <cmath>

#include <gtest/gtest.h>

#include <seqtrain/model/nn/rope.hpp>

namespace seqtrain::model {
namespace {

TEST(Rope, TurnsTheFirstPairByThePosition) {
  const auto plain = angles({.base = 10'000}, 4);
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_FLOAT_EQ(plain[0], 1);
  EXPECT_FLOAT_EQ(plain[1], 0.01F);
}

TEST(Rope, DividesEveryAngleIfItIsScaledLinearly) {
  const auto scaled = angles({.base = 10'000, .scaling = Rope::Scaling::linear, .factor = 4}, 4);
  EXPECT_FLOAT_EQ(scaled[0], 0.25F);
  EXPECT_FLOAT_EQ(scaled[1], 0.0025F);
}

/// Fast pairs are kept, slow ones divided, and those between are in between.
void expect_kept_to_divided(const Rope& rope) {
  constexpr std::size_t size = 64;
  const auto plain = angles({.base = rope.base}, size), scaled = angles(rope, size);
  EXPECT_FLOAT_EQ(scaled.front(), plain.front());
  EXPECT_FLOAT_EQ(scaled.back(), plain.back() / static_cast<float>(rope.factor));
  int between = 0;
  for (std::size_t i = 0; i < size / 2; ++i) {
    const double kept = static_cast<double>(scaled[i]) / static_cast<double>(plain[i]);
    EXPECT_LE(kept, 1.000001);
    EXPECT_GE(kept, 1 / rope.factor - 0.000001);
    between += kept < 0.99 && kept > 1 / rope.factor + 0.01;
  }
  EXPECT_GT(between, 0);
}

TEST(Rope, KeepsFastPairsIfItIsScaledForLongTexts) {
  expect_kept_to_divided({.base = 10'000,
                          .scaling = Rope::Scaling::llama3,
                          .factor = 8,
                          .slow = 1,
                          .fast = 4,
                          .original_length = 4096});
  expect_kept_to_divided({.base = 10'000,
                          .scaling = Rope::Scaling::yarn,
                          .factor = 8,
                          .slow = 1,
                          .fast = 32,
                          .original_length = 4096});
}

}  // namespace
}  // namespace seqtrain::model
