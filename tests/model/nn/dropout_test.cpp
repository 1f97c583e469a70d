#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <seqtrain/model/nn/dropout.hpp>

namespace seqtrain::model {
namespace {

const c10::Device cpu{c10::kCPU};

TEST(Dropout, KeepsTheMean) {
  Dropout dropout{1, cpu};
  const at::Tensor out = dropout(at::ones({100, 1000}), 0.2);
  EXPECT_NEAR(out.eq(0).to(at::kDouble).mean().item<double>(), 0.2, 0.01);
  EXPECT_NEAR(out.max().item<double>(), 1.25, 1e-6);
  EXPECT_NEAR(out.mean().item<double>(), 1, 0.02);
}

TEST(Dropout, IsAFunctionOfTheSeedAndTheCall) {
  Dropout one{1, cpu};
  Dropout same{1, cpu};
  Dropout other{2, cpu};
  const at::Tensor x = at::ones({64, 64});
  const at::Tensor first = one(x, 0.5);
  EXPECT_TRUE(first.equal(same(x, 0.5)));
  EXPECT_FALSE(first.equal(one(x, 0.5)));
  EXPECT_FALSE(first.equal(other(x, 0.5)));
}

TEST(Dropout, GivesTheInputItselfWhereItIsOff) {
  const at::Tensor x = at::ones({3});
  Dropout off;
  EXPECT_TRUE(off(x, 0.5).is_same(x));
  EXPECT_FALSE(off.active(0.5));
  EXPECT_TRUE(Dropout(1, cpu)(x, 0).is_same(x));
}

}  // namespace
}  // namespace seqtrain::model
