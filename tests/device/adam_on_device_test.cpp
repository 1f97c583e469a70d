#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/Device.h>
#include <gtest/gtest.h>

#include <seqtrain/cuda/adam_kernel.hpp>
#include <seqtrain/cuda/norm_kernel.hpp>
#include <seqtrain/cuda/squares_kernel.hpp>
#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/adam_on_device.hpp>
#include <seqtrain/optim/make.hpp>
#include <seqtrain/tensor/device_kernel.hpp>
#include <seqtrain/tensor/loss_scale.hpp>
#include <seqtrain/tensor/state_dict.hpp>

#include "support/environment.hpp"
#include "support/fake_device.hpp"
#include "support/made_optimizer_case.hpp"
#include "support/on_device.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::optim {
namespace {

using tests::difference;
using tests::fake_device;
using tests::OptimizerCase;

AdamOptions options_with(std::shared_ptr<AdamOnDevice> kernel, bool decoupled = true) {
  return {.lr = 0.01,
          .weight_decay = 0.1,
          .decoupled_weight_decay = decoupled,
          .lr_factors = {{"bias", 0.5}},
          .on_device = std::move(kernel)};
}

std::shared_ptr<AdamOnDevice> kernel() {
  return std::make_shared<AdamOnDevice>(fake_device);
}

// Takes steps of which number 5 is not taken.
void train(Adam& optimizer, const OptimizerCase& made, double max_norm) {
  for (std::int64_t step = 0; step < 12; ++step) {
    made.set_gradients(step);
    if (step == 5) made.parameters[1].gradient[2] = std::numeric_limits<float>::infinity();
    Outcome outcome = optimizer.step(
        made.parameters, {.lr_scale = 1 / (1.0 + double(step)), .max_grad_norm = max_norm});
    EXPECT_EQ(outcome.problem().empty(), step != 5);
  }
}

std::vector<std::vector<float>> state_of(const Adam& optimizer) {
  std::vector<std::vector<float>> state;
  const auto saved = optimizer.state();
  for (const auto& view : saved.views()) state.push_back(weights::to_floats(view));
  return state;
}

TEST(AdamKernelOnDevice, EqualsTorchsOperators) {
  for (const double max_norm : {std::numeric_limits<double>::infinity(), 0.5}) {
    for (const bool decoupled : {true, false}) {
      const OptimizerCase own{fake_device}, other{fake_device};
      Adam by_kernel{options_with(kernel(), decoupled)};
      Adam by_operators{options_with(nullptr, decoupled)};
      train(by_kernel, own, max_norm);
      train(by_operators, other, max_norm);
      for (std::size_t i = 0; i < own.parameters.size(); ++i) {
        const auto &a = own.parameters[i], &b = other.parameters[i];
        EXPECT_LT(difference(a.value, b.value), 2e-7) << a.name;
        EXPECT_EQ(a.gradient.count_nonzero().item<std::int64_t>(), 0) << a.name;
      }
    }
  }
}

TEST(AdamKernelOnDevice, DividesByTheLossScale) {
  const auto train_scaled = [](std::shared_ptr<AdamOnDevice> chosen) {
    OptimizerCase made{fake_device};
    const auto scale = std::make_shared<tensor::LossScale>(fake_device);
    scale->value.fill_(8);
    for (auto& parameter : made.parameters) parameter.loss_scale = scale;
    Adam optimizer{options_with(std::move(chosen))};
    made.set_gradients(0, 8);
    EXPECT_EQ(optimizer.step(made.parameters, {.max_grad_norm = 1}).problem(), "");
    made.set_gradients(1, 8);
    made.parameters[0].gradient[0] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_NE(optimizer.step(made.parameters, {.max_grad_norm = 1}).problem(), "");
    EXPECT_EQ(scale->value.item<float>(), 4);
    return made;
  };
  const OptimizerCase own = train_scaled(kernel()), other = train_scaled(nullptr);
  for (std::size_t i = 0; i < own.parameters.size(); ++i) {
    EXPECT_LT(difference(own.parameters[i].value, other.parameters[i].value), 2e-7);
  }
}

TEST(AdamKernelOnDevice, WritesTheCopiesThatProductsRead) {
  OptimizerCase made{fake_device};
  for (auto& parameter : made.parameters) {
    parameter.copy = std::make_shared<tensor::NarrowCopy>(
        tensor::NarrowCopy{at::zeros_like(parameter.value).to(at::kBFloat16)});
  }
  made.parameters[0].copy->value = at::zeros_like(made.parameters[0].value).to(at::kHalf);
  Adam optimizer{options_with(kernel())};
  train(optimizer, made, 0.5);
  for (const auto& parameter : made.parameters) {
    const tensor::NarrowCopy& copy = *parameter.copy;
    const bool is_written = copy.value.scalar_type() == at::kBFloat16;
    EXPECT_EQ(copy.changes == tensor::changes_of(parameter.value), is_written) << parameter.name;
    if (!is_written) continue;
    EXPECT_EQ(difference(copy.value, parameter.value.to(at::kBFloat16)), 0) << parameter.name;
  }
}

TEST(AdamKernelOnDevice, ContinuesFromASavedState) {
  const OptimizerCase own{fake_device}, other{fake_device};
  Adam whole{options_with(kernel())}, begun{options_with(kernel())};
  own.take_steps(whole, 0, 8);
  other.take_steps(begun, 0, 4);
  const auto saved = begun.state();
  Adam continued{options_with(kernel())};
  continued.load_state(saved.views(), other.parameters);
  other.take_steps(continued, 4, 8);
  for (std::size_t i = 0; i < own.parameters.size(); ++i) {
    EXPECT_EQ(difference(own.parameters[i].value, other.parameters[i].value), 0);
  }
  EXPECT_EQ(state_of(whole), state_of(continued));
}

TEST(AdamKernelOnDevice, FollowsParametersThatAreUnfrozenOrGetOtherGradients) {
  const auto train_some = [](std::shared_ptr<AdamOnDevice> chosen) {
    OptimizerCase made{fake_device};
    Adam optimizer{options_with(std::move(chosen))};
    const at::Tensor last = made.parameters[2].gradient;
    made.parameters[2].gradient = at::Tensor{};
    made.take_steps(optimizer, 0, 3);
    made.parameters[2].gradient = last;
    made.parameters[0].gradient = made.parameters[0].gradient.clone();
    made.take_steps(optimizer, 3, 6);
    return made;
  };
  const OptimizerCase own = train_some(kernel()), other = train_some(nullptr);
  for (std::size_t i = 0; i < own.parameters.size(); ++i) {
    EXPECT_LT(difference(own.parameters[i].value, other.parameters[i].value), 2e-7);
  }
}

TEST(AdamKernelOnDevice, TakesFewOperatorsAndWaitsForNothing) {
  const auto counts_of = [](std::shared_ptr<AdamOnDevice> chosen) {
    const OptimizerCase made{fake_device};
    Adam optimizer{options_with(std::move(chosen))};
    made.take_steps(optimizer, 0, 1);
    made.set_gradients(1);
    tests::reset_device_counts();
    optimizer.step(made.parameters, {.lr_scale = 0.5, .max_grad_norm = 1});
    return tests::device_counts();
  };
  const auto own = counts_of(kernel()), other = counts_of(nullptr);
  EXPECT_EQ(own.waits, 0);
  EXPECT_EQ(own.copies_to, 0);
  EXPECT_EQ(own.copies_from, 1);
  EXPECT_LT(own.operators, other.operators);
  RecordProperty("operators", std::to_string(own.operators));
  RecordProperty("operators_of_torch", std::to_string(other.operators));
}

TEST(AdamKernelOnDevice, LeavesOtherTensorsToTorchsOperators) {
  OptimizerCase made{fake_device};
  const auto chosen = kernel();
  EXPECT_TRUE(chosen->takes(made.parameters, {}));
  made.parameters[0].value = made.parameters[0].value.t();
  EXPECT_FALSE(chosen->takes(made.parameters, {}));
  EXPECT_FALSE(chosen->takes(OptimizerCase{c10::kCPU}.parameters, {}));
}

TEST(AdamKernelOnDevice, IsChosenByTheEnvironmentAlone) {
  std::vector<std::string> sentences;
  const auto say = [&](const std::string& text) { sentences.push_back(text); };
  const tests::Environment nothing{"SEQTRAIN_GPU_KERNELS", std::nullopt};
  EXPECT_EQ(AdamOnDevice::make(fake_device, say), nullptr);
  const tests::Environment all{"SEQTRAIN_GPU_KERNELS", "norms,adam"};
  EXPECT_EQ(AdamOnDevice::make(c10::kCPU, say), nullptr);
  EXPECT_NE(AdamOnDevice::make(fake_device, say), nullptr);
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0], "Adam's steps are kernels of our own on fake:0");
  EXPECT_EQ(AdamOnDevice::make(c10::Device{"meta"}, say), nullptr);
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_EQ(sentences[1],
            "torch's operators compute Adam: meta: kernels of our own are for GPUs of NVIDIA");
}

TEST(AdamKernelOnDevice, IsNotChosenIfAKernelDoesNothing) {
  const tests::Environment asked{"SEQTRAIN_GPU_KERNELS", "adam"};
  for (const auto& source : {cuda::squares_kernel, cuda::norm_kernel, cuda::adam_kernel}) {
    const tests::Environment idle{"SEQTRAIN_FAKE_IDLE_KERNEL", std::string{source.name}};
    std::string sentence;
    EXPECT_EQ(AdamOnDevice::make(fake_device, [&](const auto& text) { sentence = text; }), nullptr);
    EXPECT_EQ(sentence,
              "torch's operators compute Adam: fake:0: the kernels of Adam compute wrong numbers")
        << source.name;
  }
}

TEST(AdamKernelOnDevice, IsMadeWithTheOptimizer) {
  const OptimizerCase made{fake_device}, other{fake_device};
  const tests::Environment adam{"SEQTRAIN_GPU_KERNELS", "adam"};
  std::string sentence;
  Any chosen = make({.lr = 0.01}, made.parameters, [&](const auto& text) { sentence = text; });
  EXPECT_NE(sentence, "");
  made.take_steps(chosen, 0, 3);
  const tests::Environment nothing{"SEQTRAIN_GPU_KERNELS", ""};
  Any plain = make({.lr = 0.01}, other.parameters);
  other.take_steps(plain, 0, 3);
  for (std::size_t i = 0; i < made.parameters.size(); ++i) {
    EXPECT_LT(difference(made.parameters[i].value, other.parameters[i].value), 2e-7);
  }
}

TEST(AdamKernelOnDevice, LeavesMoreLearningRatesThanItsArgumentHoldsToOperators) {
  OptimizerCase made{fake_device};
  const auto kernels = kernel();
  AdamOptions options = options_with(kernels);
  const auto add = [&](int i) {
    const std::string name = "more." + std::to_string(i);
    made.parameters.push_back(
        {name, at::zeros({4}).to(fake_device), at::ones({4}).to(fake_device)});
    options.lr_factors[name] = 1.0 / (2 + i);
  };
  for (int i = 0; i < 63; ++i) add(i);
  EXPECT_TRUE(kernels->takes(made.parameters, options));
  add(63);
  EXPECT_FALSE(kernels->takes(made.parameters, options));
  Adam optimizer{options};
  optimizer.step(made.parameters, {});
  EXPECT_LT(made.parameters.back().value.max().item<float>(), 0);
}

}  // namespace
}  // namespace seqtrain::optim
