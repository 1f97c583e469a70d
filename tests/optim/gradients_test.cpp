#include <cmath>
#include <string>
#include <vector>

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <seqtrain/optim/gradients.hpp>

namespace seqtrain::optim {
namespace {

std::vector<tensor::Parameter> parameters_with(const std::vector<at::Tensor>& gradients) {
  std::vector<tensor::Parameter> parameters;
  for (const at::Tensor& gradient : gradients) {
    parameters.push_back({"p" + std::to_string(parameters.size()), gradient, gradient});
  }
  return parameters;
}

TEST(Finite, ScalesToTheNormAskedFor) {
  const std::vector<at::Tensor> gradients{at::full({4}, 3.0), at::full({2, 2}, 4.0)};
  const Finite finite{parameters_with(gradients)};
  finite.clip(1);
  EXPECT_EQ(finite.outcome().gradient_norm()(), 10);
  EXPECT_EQ(finite.found_inf().item<float>(), 0);
  EXPECT_NEAR(gradients[0][0].item<double>(), 0.3, 1e-6);
  EXPECT_NEAR(gradients[1][1][1].item<double>(), 0.4, 1e-6);
}

TEST(Finite, LeavesSmallerGradientsAsTheyAre) {
  const std::vector<at::Tensor> gradients{at::full({4}, 3.0)};
  Finite{parameters_with(gradients)}.clip(100);
  EXPECT_EQ(gradients[0][0].item<float>(), 3);
}

TEST(Finite, KnowsOnTheProcessorWhichGradientIsNotFinite) {
  const std::vector<at::Tensor> gradients{at::full({4}, 3.0), at::full({2}, INFINITY)};
  const Finite finite{parameters_with(gradients)};
  EXPECT_EQ(finite.found_inf().item<float>(), 1);
  Outcome outcome = finite.outcome();
  EXPECT_TRUE(outcome.known());
  EXPECT_EQ(outcome.problem(), "the gradient of p1 is not finite");
  EXPECT_FALSE(outcome.loss_scale());
}

}  // namespace
}  // namespace seqtrain::optim
