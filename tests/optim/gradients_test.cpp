#include <vector>

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <seqtrain/optim/gradients.hpp>

namespace seqtrain::optim {
namespace {

TEST(Clip, ScalesToTheNormAskedFor) {
  const std::vector<at::Tensor> gradients{at::full({4}, 3.0), at::full({2, 2}, 4.0)};
  EXPECT_FLOAT_EQ(global_norm(gradients).item<float>(), 10);
  clip_grad_norm(gradients, global_norm(gradients), 1);
  EXPECT_NEAR(gradients[0][0].item<double>(), 0.3, 1e-6);
  EXPECT_NEAR(gradients[1][1][1].item<double>(), 0.4, 1e-6);
}

TEST(Clip, LeavesSmallerGradientsAsTheyAre) {
  const std::vector<at::Tensor> gradients{at::full({4}, 3.0)};
  clip_grad_norm(gradients, global_norm(gradients), 100);
  EXPECT_EQ(gradients[0][0].item<float>(), 3);
}

}  // namespace
}  // namespace seqtrain::optim
