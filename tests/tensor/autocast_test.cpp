#include <stdexcept>

#include <ATen/autocast_mode.h>  // declares the same functions
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <seqtrain/tensor/autocast.hpp>

namespace seqtrain::tensor {
namespace {

namespace autocast = at::autocast;

at::ScalarType type_of_product() {
  const at::Tensor x = at::ones({2, 2});
  return x.matmul(x).scalar_type();
}

TEST(Autocast, MultipliesInBfloat16WhileItLives) {
  {
    const Autocast narrow{at::kCPU};
    EXPECT_EQ(type_of_product(), at::kBFloat16);
    EXPECT_FALSE(autocast::is_autocast_enabled(at::kCUDA));
  }
  EXPECT_EQ(type_of_product(), at::kFloat);
}

TEST(Autocast, RestoresWhatWas) {
  const at::ScalarType before = autocast::get_autocast_dtype(at::kCUDA);
  {
    const Autocast outer{at::kCUDA};
    EXPECT_EQ(autocast::get_autocast_dtype(at::kCUDA), at::kBFloat16);
    autocast::set_autocast_dtype(at::kCUDA, at::kHalf);
    { const Autocast inner{at::kCUDA}; }
    EXPECT_EQ(autocast::get_autocast_dtype(at::kCUDA), at::kHalf);
    EXPECT_TRUE(autocast::is_autocast_enabled(at::kCUDA));
  }
  EXPECT_EQ(autocast::get_autocast_dtype(at::kCUDA), before);
  EXPECT_FALSE(autocast::is_autocast_enabled(at::kCUDA));
}

TEST(Autocast, RestoresAfterAnException) {
  const auto fail = [] {
    const Autocast narrow{at::kCPU};
    throw std::runtime_error{"in the midst"};
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_FALSE(autocast::is_autocast_enabled(at::kCPU));
  EXPECT_EQ(autocast::increment_nesting(), 1);
  EXPECT_EQ(autocast::decrement_nesting(), 0);
}

TEST(Autocast, KeepsNoWeightsBeyondTheOutermost) {
  const at::Tensor weight = at::ones({1, 1}).set_requires_grad(true);
  const auto product = [&] { return weight.matmul(at::ones({1, 1})).item<float>(); };
  {
    const Autocast outer{at::kCPU};
    {
      const Autocast inner{at::kCPU};
      EXPECT_EQ(product(), 1);
    }
    const at::NoGradGuard no_gradients;
    weight.fill_(2);
    EXPECT_EQ(product(), 1);  // the copy is still there
  }
  const Autocast narrow{at::kCPU};
  EXPECT_EQ(product(), 2);
}

}  // namespace
}  // namespace seqtrain::tensor
