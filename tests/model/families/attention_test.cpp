#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <seqtrain/model/families/attention.hpp>

namespace seqtrain::model {
namespace {

/// Training with dropout writes attention out; evaluation takes ATen's fused operator.
TEST(Attention, IsTheSameWrittenOutAndFused) {
  const at::Tensor x = at::arange(2 * 2 * 5 * 4, at::kFloat).mul(0.37).sin().view({2, 2, 5, 4});
  const at::Tensor columns = at::arange(5);
  const at::Tensor lengths = at::arange(3, 5).unsqueeze(1);  // 3 and 4 of 5
  Dropout off;
  Dropout almost_off{1, c10::Device{c10::kCPU}};
  const at::Tensor k = x.cos();
  const at::Tensor v = x.mul(2).cos();
  const AttentionMask keys{.keys = columns.lt(lengths).unsqueeze(1).unsqueeze(1)};
  const at::Tensor bias = at::arange(2 * 5 * 5, at::kFloat).sin().view({1, 2, 5, 5});
  for (const auto& mask : {AttentionMask{}, keys, AttentionMask{.bias = bias},
                           AttentionMask{.keys = keys.keys, .bias = bias}}) {
    const at::Tensor fused = attend(x, k, v, mask, 0.1, off);
    const at::Tensor written_out = attend(x, k, v, mask, 1e-12, almost_off);
    EXPECT_TRUE(fused.allclose(written_out, 1e-5, 1e-6));
  }
}

}  // namespace
}  // namespace seqtrain::model
