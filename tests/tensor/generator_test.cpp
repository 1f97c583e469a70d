#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <seqtrain/tensor/generator.hpp>

namespace seqtrain::tensor {
namespace {

TEST(Generator, DependsOnItsSeedAlone) {
  const c10::Device here{c10::kCPU};
  const at::Tensor one = at::rand({8}, make_generator(1, here));
  static_cast<void>(at::rand({8}));  // moves the global one
  EXPECT_TRUE(one.equal(at::rand({8}, make_generator(1, here))));
  EXPECT_FALSE(one.equal(at::rand({8}, make_generator(2, here))));
}

}  // namespace
}  // namespace seqtrain::tensor
