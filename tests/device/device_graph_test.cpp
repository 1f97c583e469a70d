#include <memory>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/ones.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/tensor/device_graph.hpp>
#include <seqtrain/tensor/generator.hpp>

#include "support/environment.hpp"
#include "support/fake_device.hpp"
#include "support/on_device.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::tensor {
namespace {

using tests::fake_device;

class Graphs : public testing::Test {
 protected:
  at::NoGradGuard no_gradients_;
  GraphMaker maker_{fake_device};
};

at::Tensor numbers(double first) {
  return tests::on_device(at::arange(first, first + 4, at::kFloat));
}

/// Returns the first line of what a capture of `work` complains about, or "".
template <class Work>
std::string problem_in(const GraphMaker& maker, const Work& work) {
  try {
    static_cast<void>(maker.capture(work));
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return {};
}

TEST_F(Graphs, DoNothingBeforeTheyAreReplayed) {
  const at::Tensor x = numbers(0), sum = numbers(0);
  at::Tensor result;
  tests::reset_device_counts();
  const auto graph = maker_.capture([&] {
    sum.add_(x);
    result = sum.mul(10);
  });
  EXPECT_EQ(tests::device_counts().operators, 2);  // a product before the capture, of ones
  EXPECT_EQ(tests::difference(sum, x), 0);
  EXPECT_EQ(tests::difference(result, x.mul(0)), 0);
  graph->replay();
  graph->replay();
  EXPECT_EQ(tests::device_counts().replays, 2);
  EXPECT_EQ(tests::difference(sum, x.mul(3)), 0);
  EXPECT_EQ(tests::difference(result, x.mul(30)), 0);
}

TEST_F(Graphs, ReadWhatTheirMemoryHoldsNow) {
  const at::Tensor x = numbers(0);
  at::Tensor result;
  const auto graph = maker_.capture([&] { result = x.add(1).mul(x); });
  x.copy_(numbers(5));
  graph->replay();
  EXPECT_EQ(tests::difference(result, numbers(6).mul(numbers(5))), 0);
}

TEST_F(Graphs, CountAsOneOperator) {
  const at::Tensor x = numbers(0);
  const auto graph = maker_.capture([&] { x.add_(1).mul_(2).sub_(3); });
  tests::reset_device_counts();
  graph->replay();
  EXPECT_EQ(tests::device_counts().operators, 1);
  EXPECT_EQ(tests::device_counts().waits, 0);
}

TEST_F(Graphs, DrawTheNumbersThatOperatorsWouldDraw) {
  const at::Tensor x = tests::on_device(at::ones({100}));
  const auto drop = [&] { return std::get<0>(at::native_dropout(x, 0.5, true)); };
  at::Tensor masked;
  const auto graph = maker_.capture([&] { masked = drop().add(drop(), 10); });
  const auto both = [&](const auto& draw) {
    const SeededGenerator seeded{7, fake_device};
    const at::Tensor before = drop(), first = draw(), second = draw(), after = drop();
    EXPECT_NE(tests::difference(first, second), 0);
    return at::Tensor{before.add(first, 100).add(second, 10'000).add(after, 1'000'000)};
  };
  const at::Tensor eager = both([&] { return drop().add(drop(), 10); });
  const at::Tensor replayed = both([&] {
    graph->replay();
    return masked.clone();
  });
  EXPECT_EQ(tests::difference(eager, replayed), 0);
}

TEST_F(Graphs, ShareMemoryThatNobodyElseGets) {
  const at::Tensor x = numbers(0);
  at::Tensor between, result;
  const auto first = maker_.capture([&] { between = x.add(1); });
  const auto second = maker_.capture([&] { result = between.mul(2); }, first.get());
  between.reset();  // the memory stays that of the graphs
  const at::Tensor other = at::full({4}, 7, x.options());
  first->replay();
  second->replay();
  EXPECT_EQ(tests::difference(result, x.add(1).mul(2)), 0);
  EXPECT_EQ(tests::difference(other, at::full({4}, 7)), 0);
}

TEST_F(Graphs, LeaveTheirMemoryToThoseThatStillUseIt) {
  const at::Tensor x = numbers(0);
  at::Tensor result;
  {
    const auto graph = maker_.capture([&] { result = x.add(1); });
    graph->replay();
  }
  const at::Tensor other = at::full({4}, 7, x.options());
  EXPECT_EQ(tests::difference(result, x.add(1)), 0);
}

TEST_F(Graphs, AreNotReplayedWithFreedMemory) {
  auto x = numbers(0);
  at::Tensor result;
  const auto graph = maker_.capture([&] { result = x.add(1); });
  x.reset();
  const at::Tensor other = numbers(5);  // it may have the memory
  EXPECT_THROW(graph->replay(), c10::Error);
}

TEST_F(Graphs, RefuseWhatWaitsOrCrossesToTheHost) {
  const at::Tensor x = numbers(0), host = at::ones({4});
  const at::Tensor pinned = at::empty({4}, at::TensorOptions{at::kFloat}.pinned_memory(true));
  const auto expect = [&](const char* what, const auto& work) {
    EXPECT_EQ(problem_in(maker_, work), std::string{what} + " in the capture of a graph");
  };
  expect("the host reads a number", [&] { static_cast<void>(x[0].item<float>()); });
  expect("numbers are copied from or to the host", [&] { static_cast<void>(x.cpu()); });
  expect("numbers are copied from or to the host", [&] { x.copy_(host); });
  expect("numbers are copied from or to the host", [&] { x.copy_(pinned, true); });
  expect("the host waits for the device", [&] { static_cast<void>(x.nonzero()); });
  expect("a generator gets a seed", [&] { const SeededGenerator seeded{1, fake_device}; });
  EXPECT_EQ(x.add(1).cpu()[0].item<float>(), 1);  // no capture is left
}

TEST_F(Graphs, KeepNothingOfACaptureThatFails) {
  const at::Tensor x = numbers(0);
  const auto fail = [&] {
    x.add_(1);
    throw Error{"out of memory"};
  };
  EXPECT_EQ(tests::problem_of([&] { static_cast<void>(maker_.capture(fail)); }), "out of memory");
  EXPECT_EQ(tests::difference(x, numbers(0)), 0);
  const auto graph = maker_.capture([&] { x.add_(1); });
  graph->replay();
  EXPECT_EQ(tests::difference(x, numbers(1)), 0);
}

TEST(GraphMaker, NamesADeviceWithoutGraphs) {
  const auto problem = [](c10::Device device) {
    return tests::problem_of([&] { const GraphMaker maker{device}; });
  };
  EXPECT_EQ(problem(c10::Device{"meta"}), "meta: graphs are for GPUs of NVIDIA");
  const tests::Environment none{"SEQTRAIN_FAKE_HAS_NO_GRAPHS", "1"};
  EXPECT_EQ(problem(fake_device), "fake:0: graphs are for GPUs of NVIDIA");
}

}  // namespace
}  // namespace seqtrain::tensor
