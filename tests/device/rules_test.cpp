#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/concepts/optimizer_choice.hpp>
#include <seqtrain/optim/make.hpp>

#include "support/fake_device.hpp"
#include "support/made_optimizer_case.hpp"
#include "support/on_device.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::optim {
namespace {

using tests::difference;
using tests::fake_device;
using tests::OptimizerCase;

/// Calls `test` with each optimizer that a device can have.
template <class Test>
void for_each_choice(const Test& test) {
  for (const auto& [name, type] : optimizer_names) {
    if (type == Choice::Type::adamw_8bit) continue;
    SCOPED_TRACE(name);
    const Choice choice{.type = type, .lr = 0.02, .weight_decay = 0.1};
    test(choice);
  }
}

/// Takes steps, of which one is not taken because a gradient is not finite.
OptimizerCase trained_on(c10::Device device, const Choice& choice) {
  OptimizerCase made{device};
  Any optimizer = make(choice, made.parameters);
  for (std::int64_t step = 0; step < 10; ++step) {
    made.set_gradients(step);
    if (step == 5) made.parameters[3].gradient[2] = std::numeric_limits<float>::quiet_NaN();
    Outcome outcome = optimizer.step(made.parameters, {.max_grad_norm = 1});
    EXPECT_EQ(outcome.problem(), step == 5 ? "the gradient of bias is not finite" : "");
  }
  return made;
}

TEST(RulesOnDevice, EqualTheProcessors) {
  for_each_choice([](Choice choice) {
    if (choice.type == Choice::Type::sgd) choice.momentum = 0.9;
    const OptimizerCase host = trained_on(c10::kCPU, choice);
    const OptimizerCase device = trained_on(fake_device, choice);
    // A device orthogonalizes in bfloat16.
    const double most = choice.type == Choice::Type::muon ? 0.01 : 1e-5;
    for (std::size_t p = 0; p < host.parameters.size(); ++p) {
      EXPECT_LT(difference(host.parameters[p].value, device.parameters[p].value), most)
          << host.parameters[p].name;
    }
  });
}

TEST(RulesOnDevice, LeaveAllAsItIsWhereAGradientIsNotFinite) {
  const auto bytes_of = [](const Any& optimizer) {
    std::string bytes;
    const auto state = optimizer.state();
    for (const auto& view : state.views()) {
      bytes.append(reinterpret_cast<const char*>(view.bytes.data()), view.bytes.size());
    }
    return bytes;
  };
  for_each_choice([&](const Choice& choice) {
    const OptimizerCase made{fake_device}, before;
    Any optimizer = make(choice, made.parameters);
    made.set_gradients(1);
    optimizer.step(made.parameters, {});
    before.copy_values(made);
    const std::string state = bytes_of(optimizer);
    made.set_gradients(2);
    made.parameters[0].gradient[0][0] = std::numeric_limits<float>::infinity();
    Outcome outcome = optimizer.step(made.parameters, {.max_grad_norm = 1});
    EXPECT_NE(outcome.problem(), "");
    EXPECT_EQ(bytes_of(optimizer), state);
    for (std::size_t p = 0; p < made.parameters.size(); ++p) {
      EXPECT_EQ(difference(made.parameters[p].value, before.parameters[p].value), 0);
    }
  });
}

TEST(RulesOnDevice, NothingWaitsForAStep) {
  for_each_choice([](const Choice& choice) {
    const OptimizerCase made{fake_device};
    Any optimizer = make(choice, made.parameters);
    made.set_gradients(1);
    optimizer.step(made.parameters, {});
    tests::reset_device_counts();
    optimizer.step(made.parameters, {.max_grad_norm = 1});
    EXPECT_EQ(tests::device_counts().waits, 0);
  });
}

TEST(RulesOnDevice, HaveNoEightBitMoments) {
  const OptimizerCase made{fake_device};
  const std::string problem =
      tests::problem_of([&] { (void)make({.type = Choice::Type::adamw_8bit}, made.parameters); });
  EXPECT_TRUE(problem.starts_with("adamw-8bit: is for processors, and this device is ")) << problem;
}

}  // namespace
}  // namespace seqtrain::optim
