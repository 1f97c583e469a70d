#include "support/fake_device.hpp"

#include <cstdint>
#include <cstring>

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <c10/core/Event.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <gtest/gtest.h>

#include <seqtrain/tensor/autocast.hpp>

#include "support/on_device.hpp"

namespace seqtrain::tests {
namespace {

at::Tensor pinned(std::int64_t numbers) {
  return at::empty({numbers}, at::TensorOptions{at::kFloat}.pinned_memory(true));
}

TEST(FakeDevice, ComputesWhatTheProcessorComputes) {
  const at::Tensor x = at::arange(12, at::kFloat).view({3, 4});
  const at::Tensor y = on_device(x);
  EXPECT_EQ(difference(y.mm(y.t()).add(1).select(0, 1), x.mm(x.t()).add(1).select(0, 1)), 0);
}

TEST(FakeDeviceDeathTest, ClosesItsMemoryToTheHost) {
  const at::Tensor x = on_device(at::ones({4}));
  EXPECT_DEATH(std::memset(x.mutable_data_ptr(), 0, 4), "");
}

TEST(FakeDevice, RefusesTensorsOfTwoDevices) {
  const at::Tensor x = on_device(at::ones({4}));
  EXPECT_THROW(static_cast<void>(at::add(x, at::ones({4}))), c10::Error);
  EXPECT_THROW(static_cast<void>(at::add(x, x.to(c10::Device{x.device().type(), 1}))), c10::Error);
}

TEST(FakeDevice, CopiesToItAsLateAsItMay) {
  const at::Tensor host = pinned(3).fill_(1);
  const at::Tensor x = host.to(fake_device, /*non_blocking=*/true);
  host.fill_(2);  // too early: nothing has waited for the copy
  EXPECT_EQ(x.cpu()[0].item<float>(), 2);
  const at::Tensor y = host.to(fake_device, true);
  const at::Tensor sum = y.add(1);
  host.fill_(5);
  EXPECT_EQ(sum.cpu()[0].item<float>(), 3);
}

TEST(FakeDevice, CopiesFromItWhenTheHostWaits) {
  const at::Tensor x = on_device(at::ones({3}));
  const at::Tensor host = pinned(3);
  host.copy_(x, /*non_blocking=*/true);
  c10::Event event{x.device().type()};
  event.record(c10::impl::getDeviceGuardImpl(x.device().type())->getStream(x.device()));
  x.fill_(7);
  EXPECT_NE(host[0].item<float>(), 1);
  event.synchronize();
  EXPECT_EQ(host[0].item<float>(), 1);
}

TEST(FakeDevice, CountsCopiesWaitsAndOperators) {
  const at::Tensor host = pinned(3).fill_(1);
  reset_device_counts();
  const at::Tensor x = host.to(fake_device, true);
  const at::Tensor y = x.add(x);
  EXPECT_EQ(device_counts().copies_to, 1);
  EXPECT_EQ(device_counts().operators, 1);
  EXPECT_EQ(device_counts().waits, 0);
  static_cast<void>(y[0].item<float>());
  EXPECT_EQ(device_counts().waits, 1);
  static_cast<void>(y.cpu());
  EXPECT_EQ(device_counts().copies_from, 1);
  EXPECT_EQ(device_counts().waits, 2);
}

TEST(FakeDevice, HasAutocast) {
  const at::Tensor x = on_device(at::ones({2, 2}));
  const tensor::Autocast autocast{x.device().type()};
  EXPECT_EQ(at::linear(x, x).scalar_type(), at::kBFloat16);
  EXPECT_EQ(at::linear(x, x).softmax(1).scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace seqtrain::tests
