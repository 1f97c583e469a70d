#include <cstdint>
#include <stdexcept>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/tensor/autocast.hpp>

namespace seqtrain::model {
namespace {

const at::Tensor weight = at::randn({3, 40});
const at::Tensor bias = at::randn({3});

TEST(LinearOfRows, ComputesARowsBitsAloneOrAmongOthers) {
  const at::NoGradGuard no_gradients;
  const at::Tensor x = at::randn({9, 40});
  const at::Tensor all = detail::linear(x, weight, bias);
  EXPECT_TRUE(all.allclose(at::linear(x, weight, bias), 1e-5, 1e-5));
  EXPECT_TRUE(detail::linear(x, weight, {}).allclose(at::linear(x, weight), 1e-5, 1e-5));
  for (std::int64_t row = 0; row < 9; ++row) {
    EXPECT_TRUE(detail::linear(x.narrow(0, row, 1), weight, bias).equal(all.narrow(0, row, 1)));
  }
}

TEST(LinearOfRows, TakesRowsThatAreApart) {
  const at::NoGradGuard no_gradients;
  const at::Tensor x = at::randn({4, 2, 40});
  const at::Tensor firsts = x.select(1, 0);
  const at::Tensor together = firsts.contiguous();
  EXPECT_TRUE(detail::linear(firsts, weight, bias).equal(detail::linear(together, weight, bias)));
}

TEST(LinearOfRows, LeavesOthersToTorch) {
  EXPECT_TRUE(detail::row_products(at::randn({2, 40}), weight, bias) == std::nullopt);
  const at::NoGradGuard no_gradients;
  EXPECT_TRUE(detail::row_products(at::randn({2, 40}), weight, bias).has_value());
  EXPECT_FALSE(detail::row_products(at::randn({65, 40}), weight, bias).has_value());
  EXPECT_FALSE(detail::row_products(at::randn({1, 2, 40}), weight, bias).has_value());
  EXPECT_FALSE(detail::row_products(at::randn({2, 40}, at::kDouble), weight, bias).has_value());
  EXPECT_THROW((void)detail::linear(at::randn({2, 39}), weight, bias), std::exception);
  EXPECT_THROW((void)detail::linear(at::randn({2, 40}), weight, at::randn({2})), std::exception);
}

TEST(LinearOfRows, IsNarrowUnderAutocast) {
  const at::NoGradGuard no_gradients;
  const tensor::Autocast narrow{c10::kCPU};
  const at::Tensor one = at::randn({1, 40});
  EXPECT_EQ(detail::linear(one, weight, bias).scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace seqtrain::model
