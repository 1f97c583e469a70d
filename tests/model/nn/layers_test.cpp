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

struct LinearOfRows : testing::Test {
  at::Tensor w = at::randn({3, 40});
  at::Tensor b = at::randn({3});
};

TEST_F(LinearOfRows, ComputesARowsBitsAloneOrAmongOthers) {
  const at::NoGradGuard no_gradients;
  const at::Tensor x = at::randn({9, 40});
  const at::Tensor all = detail::linear(x, w, b);
  EXPECT_TRUE(all.allclose(at::linear(x, w, b), 1e-5, 1e-5));
  EXPECT_TRUE(detail::linear(x, w, {}).allclose(at::linear(x, w), 1e-5, 1e-5));
  for (std::int64_t row = 0; row < 9; ++row) {
    EXPECT_TRUE(detail::linear(x.narrow(0, row, 1), w, b).equal(all.narrow(0, row, 1)));
  }
}

TEST_F(LinearOfRows, TakesRowsThatAreApart) {
  const at::NoGradGuard no_gradients;
  const at::Tensor x = at::randn({4, 2, 40});
  const at::Tensor firsts = x.select(1, 0);
  const at::Tensor together = firsts.contiguous();
  EXPECT_TRUE(detail::linear(firsts, w, b).equal(detail::linear(together, w, b)));
}

TEST_F(LinearOfRows, LeavesOthersToTorch) {
  EXPECT_TRUE(detail::row_products(at::randn({2, 40}), w, b) == std::nullopt);
  const at::NoGradGuard no_gradients;
  EXPECT_TRUE(detail::row_products(at::randn({2, 40}), w, b).has_value());
  EXPECT_FALSE(detail::row_products(at::randn({65, 40}), w, b).has_value());
  EXPECT_FALSE(detail::row_products(at::randn({1, 2, 40}), w, b).has_value());
  EXPECT_FALSE(detail::row_products(at::randn({2, 40}, at::kDouble), w, b).has_value());
  EXPECT_THROW((void)detail::linear(at::randn({2, 39}), w, b), std::exception);
  EXPECT_THROW((void)detail::linear(at::randn({2, 40}), w, at::randn({2})), std::exception);
}

TEST_F(LinearOfRows, IsNarrowUnderAutocast) {
  const at::NoGradGuard no_gradients;
  const tensor::Autocast narrow{c10::kCPU};
  const at::Tensor one = at::randn({1, 40});
  EXPECT_EQ(detail::linear(one, w, b).scalar_type(), at::kBFloat16);
}

}  // namespace
}  // namespace seqtrain::model
