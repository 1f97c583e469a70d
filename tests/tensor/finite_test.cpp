#include <limits>

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <seqtrain/tensor/finite.hpp>

namespace seqtrain::tensor {
namespace {

TEST(StaysFinite, LooksAtNumbersThatWereFinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor numbers = at::tensor({1.F, 2.F});
  const auto stays = [](const at::Tensor& before, const at::Tensor& after) {
    const at::Tensor same = at::tensor({0.F});
    return stays_finite({same, before}, {same, after}).item<bool>();
  };
  EXPECT_TRUE(stays(numbers, at::tensor({-3.F, 4.F})));
  EXPECT_FALSE(stays(numbers, at::tensor({1.F, infinity})));
  EXPECT_FALSE(stays(numbers, at::tensor({nan, 2.F})));
  EXPECT_TRUE(stays(at::tensor({-infinity, 2.F}), at::tensor({-infinity, 3.F})));
  EXPECT_TRUE(stays(at::tensor({infinity, 2.F}), at::tensor({nan, 3.F})));
}

}  // namespace
}  // namespace seqtrain::tensor
