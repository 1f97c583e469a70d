#include <cstdint>

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <seqtrain/tensor/loss_scale.hpp>

namespace seqtrain::tensor {
namespace {

float update(LossScale& scale, bool overflows) {
  scale.update(at::full({}, overflows ? 1.0 : 0.0));
  return scale.value.item<float>();
}

TEST(LossScale, DoublesAfterEnoughStepsInARow) {
  LossScale scale{c10::kCPU};
  EXPECT_EQ(scale.value.item<float>(), 65536);
  for (int step = 1; step < 2000; ++step) ASSERT_EQ(update(scale, false), 65536) << step;
  EXPECT_EQ(update(scale, false), 2 * 65536);
  EXPECT_EQ(scale.steps.item<std::int32_t>(), 0);
}

TEST(LossScale, HalvesAfterAnOverflowAndCountsAnew) {
  LossScale scale{c10::kCPU};
  scale.growth_interval = 3;
  update(scale, false);
  update(scale, false);
  EXPECT_EQ(update(scale, true), 32768);
  EXPECT_EQ(update(scale, true), 16384);
  EXPECT_EQ(scale.steps.item<std::int32_t>(), 0);
  update(scale, false);
  EXPECT_EQ(update(scale, false), 16384);
  EXPECT_EQ(update(scale, false), 32768);
}

}  // namespace
}  // namespace seqtrain::tensor
