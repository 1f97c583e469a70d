#include <cmath>

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <seqtrain/model/nn/activation.hpp>

namespace seqtrain::model {
namespace {

double apply(const char* name, double x) {
  return activation(name)(at::full({1}, x, at::kDouble)).item<double>();
}

TEST(Activation, FollowsItsFormula) {
  const double exact = 0.5 * -1.3 * (1 + std::erf(-1.3 / std::sqrt(2.0)));
  const double inner = std::sqrt(2 / std::acos(-1.0)) * (-1.3 + 0.044715 * std::pow(-1.3, 3));
  const double approximate = 0.5 * -1.3 * (1 + std::tanh(inner));
  EXPECT_NEAR(apply("gelu", -1.3), exact, 1e-12);
  EXPECT_NEAR(apply("gelu_new", -1.3), approximate, 1e-12);
  EXPECT_NEAR(apply("gelu_pytorch_tanh", -1.3), approximate, 1e-12);
  EXPECT_EQ(apply("relu", -1.3), 0);
  EXPECT_EQ(apply("relu", 1.3), 1.3);
}

TEST(Activation, RefusesOthers) {
  EXPECT_THROW((void)activation("swish"), InputError);
}

}  // namespace
}  // namespace seqtrain::model
