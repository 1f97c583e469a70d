#include "support/fake_device.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>
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

const c10::impl::DeviceGuardImplInterface& device() {
  return *c10::impl::getDeviceGuardImpl(fake_device.type());
}

c10::Stream new_stream() {
  return device().getStreamFromGlobalPool(fake_device);
}

c10::Event event_of(const c10::Stream& stream) {
  c10::Event event{fake_device.type()};
  event.record(stream);
  return event;
}

/// Runs work on a stream. Returns the error of it, or "".
template <class Work>
std::string problem_on(const c10::Stream& stream, const Work& work) {
  const c10::StreamGuard guard{stream};
  try {
    work();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return {};
}

TEST(FakeDeviceStreams, EachThreadHasItsOwnCurrentStream) {
  const c10::Stream stream = new_stream();
  const c10::StreamGuard guard{stream};
  EXPECT_EQ(device().getStream(fake_device), stream);
  std::thread{[] {
    EXPECT_EQ(device().getStream(fake_device), device().getDefaultStream(fake_device));
  }}.join();
}

TEST(FakeDeviceStreams, AReadMustComeAfterTheWrite) {
  const at::Tensor x = on_device(at::ones({4}));
  x.fill_(2);
  const c10::Stream first = device().getStream(fake_device), second = new_stream();
  const auto read = [&] { static_cast<void>(x.add(1)); };
  EXPECT_EQ(problem_on(second, read),
            "aten::add on stream " + std::to_string(second.id()) +
                " of device 0 reads memory that aten::fill_ on stream 0 of device 0 writes, "
                "and nothing orders the two: stream " +
                std::to_string(second.id()) +
                " of device 0 must block on an event of stream 0 of device 0");
  const c10::Event late = event_of(first);
  late.block(second);
  EXPECT_EQ(problem_on(second, read), "");
  EXPECT_NE(problem_on(first, [&] { x.add_(1); }), "") << "the second stream reads it";
  event_of(second).block(first);
}

TEST(FakeDeviceStreams, AWriteMustComeAfterReadsAndWrites) {
  const at::Tensor x = on_device(at::ones({4}));
  const c10::Stream first = device().getStream(fake_device), second = new_stream();
  const auto write = [&] { x.zero_(); };
  event_of(first).block(second);
  EXPECT_EQ(problem_on(second, [&] { static_cast<void>(x.add(1)); }), "");
  EXPECT_NE(problem_on(first, write).find("that aten::add on"), std::string::npos);
  event_of(second).block(first);
  EXPECT_EQ(problem_on(first, write), "");
  EXPECT_NE(problem_on(second, write).find("that aten::zero_ on"), std::string::npos);
  event_of(first).block(second);
  EXPECT_EQ(problem_on(second, write), "");
  event_of(second).block(first);
}

TEST(FakeDeviceStreams, AnEventOrdersOnlyWhatCameBeforeIt) {
  const at::Tensor x = on_device(at::ones({4}));
  const c10::Stream first = device().getStream(fake_device), second = new_stream();
  const c10::Event early = event_of(first);
  x.add_(1);
  early.block(second);
  EXPECT_NE(problem_on(second, [&] { x.add_(1); }), "");
  const c10::Stream third = new_stream();
  event_of(first).block(second);
  event_of(second).block(third);  // an order passes on
  EXPECT_EQ(problem_on(third, [&] { static_cast<void>(x.add(1)); }), "");
  event_of(third).block(first);
}

TEST(FakeDeviceStreams, AWaitOfTheHostOrdersWhatItsThreadAsksForLater) {
  const at::Tensor x = on_device(at::ones({4}));
  const auto read = [&] { static_cast<void>(x.add(1)); };
  const c10::Stream first = device().getStream(fake_device);
  x.fill_(2);
  std::thread{[&] {
    event_of(first).synchronize();
    EXPECT_EQ(problem_on(new_stream(), read), "");
  }}.join();
  EXPECT_NE(problem_on(new_stream(), read), "") << "another thread has waited";
  const c10::Event event = event_of(first);
  while (!event.query()) {
  }
  EXPECT_EQ(problem_on(new_stream(), read), "");
  device().synchronizeDevice(0);
  x.fill_(3);
  device().synchronizeStream(first);
  EXPECT_EQ(problem_on(new_stream(), read), "");
  device().synchronizeDevice(0);
  x.fill_(4);
  device().synchronizeDevice(0);
  EXPECT_EQ(problem_on(new_stream(), read), "");
  device().synchronizeDevice(0);
}

TEST(FakeDeviceStreams, LateCopiesAreOrderedAsOperatorsAre) {
  const at::Tensor host = pinned(3).fill_(1);
  const c10::Stream first = device().getStream(fake_device), second = new_stream();
  const at::Tensor x = host.to(fake_device, true);
  EXPECT_NE(problem_on(second, [&] { static_cast<void>(x.add(1)); }), "");
  event_of(first).block(second);
  const at::Tensor back = pinned(3), other = pinned(3);
  EXPECT_EQ(problem_on(second, [&] { back.copy_(x, true); }), "");
  EXPECT_NE(problem_on(first, [&] { x.fill_(5); }), "");
  event_of(first).synchronize();
  EXPECT_NE(back[0].item<float>(), 1) << "a wait for another stream brings no copy";
  event_of(second).synchronize();
  EXPECT_EQ(back[0].item<float>(), 1);
  x.fill_(5);
}

TEST(FakeDeviceStreams, MemoryMustNotBeFreedWhileAnotherStreamUsesIt) {
  const c10::Stream first = device().getStream(fake_device), second = new_stream();
  const auto use_and_free = [&](const auto& after_use) {
    {
      const at::Tensor x = on_device(at::ones({4}));
      event_of(first).block(second);
      EXPECT_EQ(problem_on(second, [&] { static_cast<void>(x.add(1)); }), "");
      after_use(x);
    }
    return problem_on(first, [] { static_cast<void>(on_device(at::ones({1}))); });
  };
  EXPECT_NE(use_and_free([](const at::Tensor&) {}).find("was freed that aten::add on"),
            std::string::npos);
  EXPECT_EQ(use_and_free([&](const at::Tensor&) { event_of(second).block(first); }), "");
  EXPECT_EQ(use_and_free([&](const at::Tensor& x) {
              device().recordDataPtrOnStream(x.storage().data_ptr(), second);
            }),
            "");
}

}  // namespace
}  // namespace seqtrain::tests
