#include <cstdint>
#include <limits>

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <seqtrain/tensor/finite.hpp>

#include "support/problem_of.hpp"

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

TEST(KeepFinite, RestoresAllIfANumberIsSpoiled) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor mean = at::tensor({1.F, 2.F}), variance = at::tensor({3.F});
  const at::Tensor count = at::tensor(std::int64_t{7});
  const auto pass_that_adds = [&](float to_mean) {
    return keep_finite({mean, variance, count}, [&] {
      mean.add_(to_mean);
      variance.add_(1);
      return count.add_(1).clone();
    });
  };
  EXPECT_EQ(pass_that_adds(1).item<std::int64_t>(), 8);
  EXPECT_TRUE(mean.equal(at::tensor({2.F, 3.F})));
  EXPECT_TRUE(variance.equal(at::tensor({4.F})));
  EXPECT_EQ(pass_that_adds(nan).item<std::int64_t>(), 9);
  EXPECT_TRUE(mean.equal(at::tensor({2.F, 3.F})));
  EXPECT_TRUE(variance.equal(at::tensor({4.F})));
}

TEST(RefuseNan, NamesTheTensorAndItsFile) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto problem = [](const at::Tensor& tensor) {
    return tests::problem_of([&] { refuse_nan(tensor, "model.safetensors", "w"); });
  };
  EXPECT_EQ(problem(at::tensor({1.F, -2.F})), "nothing was thrown");
  EXPECT_EQ(problem(at::tensor({infinity, -infinity})), "nothing was thrown");
  EXPECT_EQ(problem(at::tensor({3e38F, 3e38F})), "nothing was thrown");
  EXPECT_TRUE(problem(at::tensor({1.F, 2.F, nan, infinity}).view({2, 2}))
                  .starts_with("model.safetensors: w: holds NaN"));
}

}  // namespace
}  // namespace seqtrain::tensor
