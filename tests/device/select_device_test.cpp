#include <cstdint>
#include <string>

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/tensor/device.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/machine.hpp>

#include "support/fake_device.hpp"
#include "support/on_device.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tests {
namespace {

TEST(SelectDevice, TakesAnyDeviceByItsName) {
  EXPECT_EQ(tensor::select_device("fake"), fake_device);
  EXPECT_EQ(tensor::select_device("fake", 1).index(), 1);
  EXPECT_EQ(tensor::select_device("fake:1").index(), 1);
}

TEST(SelectDevice, RefusesDevicesThatAreNotThere) {
  const auto problem = [](const std::string& name, int index = 0) {
    return problem_of([&] { static_cast<void>(tensor::select_device(name, index)); });
  };
  EXPECT_NE(problem("fake:7").find("has no device 7: there are 2"), std::string::npos);
  EXPECT_NE(problem("fake", 2).find("has no device 2: there are 2"), std::string::npos);
  EXPECT_NE(problem("fake:0", 1).find("names one for all"), std::string::npos);
  EXPECT_NE(problem("meta").find("is built without it"), std::string::npos);
  EXPECT_NE(problem("fake:x").find("unknown device 'fake:x'"), std::string::npos);
}

TEST(SelectDevice, MakesTheDeviceTheCurrentOne) {
  EXPECT_EQ(tensor::use_machine("fake", 1, 1).index(), 1);
  const at::Tensor there = at::empty({1}, at::TensorOptions{c10::DeviceType::PrivateUse1});
  EXPECT_EQ(there.device().index(), 1);
  tensor::use_machine("fake", 1);
}

TEST(SelectDevice, EqualSeedsGiveEqualNumbersOnIt) {
  const auto draw = [](std::uint64_t seed) {
    auto generator = tensor::make_generator(seed, fake_device);
    return at::empty({100}, at::TensorOptions{fake_device}).bernoulli_(0.5, generator).cpu();
  };
  EXPECT_TRUE(draw(3).equal(draw(3)));
  EXPECT_FALSE(draw(3).equal(draw(4)));
}

TEST(SelectDevice, ABatchIsOneCopyThatNothingWaitsFor) {
  data::Batch batch;
  batch.rows = 2;
  batch.width = 2;
  batch.input_ids = {5, 6, 7, 0};
  batch.token_type_ids = {0, 1, 0, 0};
  batch.lengths = {2, 1};
  batch.labels = {1, 0};
  batch.row_ids = {0, 1};
  reset_device_counts();
  const auto there = tensor::to_device(batch, fake_device);
  EXPECT_EQ(device_counts().copies_to, 1);
  EXPECT_EQ(device_counts().waits, 0);
  EXPECT_EQ(there.input_ids.cpu()[1][0].item<std::int32_t>(), 7);
}

}  // namespace
}  // namespace seqtrain::tests
