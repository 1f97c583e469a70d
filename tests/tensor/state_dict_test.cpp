#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <seqtrain/tensor/state_dict.hpp>

#include "support/problem_of.hpp"

namespace seqtrain::tensor {
namespace {

TEST(StateDict, HoldsTensorsOfEveryTypeThatFilesHave) {
  for (const auto& [type, dtype] : detail::dtypes) {
    const at::Tensor numbers = at::arange(6).view({2, 3}).to(type);
    StateDict state;
    state.add("numbers", numbers.t());
    const auto& view = state.views()[0];
    EXPECT_EQ(view.dtype, dtype);
    EXPECT_EQ(view.shape, (std::vector<std::int64_t>{3, 2}));
    EXPECT_EQ(view.bytes.size(), 6 * weights::size_of(dtype));
    const at::Tensor target = at::zeros({3, 2}, type);
    SavedTensors saved{state.views()};
    saved.take("numbers", target);
    EXPECT_TRUE(target.equal(numbers.t())) << weights::name(dtype);
  }
}

TEST(Arriving, IsTheTensorItselfOnAProcessor) {
  const at::Tensor numbers = at::zeros({3});
  Arriving arriving{numbers};
  EXPECT_TRUE(arriving.is_there());
  EXPECT_TRUE(arriving.wait().is_same(numbers));
}

TEST(StateDict, RefusesTypesThatDoNotFit) {
  StateDict state;
  EXPECT_NE(tests::problem_of([&] {
              state.add("z", at::zeros({2}, at::kComplexFloat));
            }).find("z: files have no type for ComplexFloat"),
            std::string::npos);
  state.add("step", at::zeros({}, at::kLong));
  SavedTensors saved{state.views()};
  EXPECT_NE(tests::problem_of([&] {
              saved.take("step", at::zeros({}));
            }).find("step: is a tensor of I64 and shape [], expected [] of F32"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::tensor
