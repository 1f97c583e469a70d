#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/averaged.hpp>

#include "support/fake_device.hpp"
#include "support/on_device.hpp"

namespace seqtrain::optim {
namespace {

using tests::difference;
using tests::fake_device;
using Parameters = std::vector<tensor::Parameter>;

constexpr double no_clip = std::numeric_limits<double>::infinity();

Parameters parameters_on(c10::Device device) {
  Parameters parameters;
  for (const auto& [name, size] :
       {std::pair{"dense.weight", 12}, {"dense.bias", 4}, {"LayerNorm.weight", 5}}) {
    const at::Tensor value = at::arange(size, at::kFloat).sin().to(device);
    parameters.push_back({name, value, at::zeros_like(value)});
  }
  return parameters;
}

void set_gradients(const Parameters& parameters, std::int64_t step) {
  for (const auto& parameter : parameters) {
    const auto t = 0.1 * static_cast<double>(step);
    parameter.gradient.copy_(at::arange(parameter.value.numel(), at::kFloat).add(1).mul(t).cos());
  }
}

template <class O>
Parameters train(c10::Device device, const AdamOptions& options, double max_norm) {
  Parameters parameters = parameters_on(device);
  O optimizer{options};
  for (std::int64_t step = 0; step < 20; ++step) {
    set_gradients(parameters, step);
    if (step == 10) parameters[1].gradient[2] = std::numeric_limits<float>::infinity();
    Outcome outcome = optimizer.step(parameters, {.max_grad_norm = max_norm});
    EXPECT_EQ(outcome.problem().empty(), step != 10);
  }
  return parameters;
}

template <class O>
void expect_equal_results() {
  const AdamOptions options{.lr = 0.01, .weight_decay = 0.1, .lr_factors = {{"dense.bias", 0.5}}};
  for (const double max_norm : {no_clip, 0.5}) {
    const Parameters host = train<O>(c10::kCPU, options, max_norm);
    const Parameters device = train<O>(fake_device, options, max_norm);
    for (std::size_t i = 0; i < host.size(); ++i) {
      EXPECT_LT(difference(host[i].value, device[i].value), 1e-6) << host[i].name << max_norm;
    }
  }
}

TEST(AdamOnDevice, EqualsTheProcessors) {
  expect_equal_results<Adam>();
  expect_equal_results<AdamW>();
}

TEST(AdamOnDevice, LeavesAllAsItIsWhereAGradientIsNotFinite) {
  const auto state_of = [](const Adam& optimizer) {
    std::vector<std::vector<float>> state;
    const auto saved = optimizer.state();
    for (const auto& view : saved.views()) state.push_back(weights::to_floats(view));
    return state;
  };
  Parameters parameters = parameters_on(fake_device);
  AdamW optimizer{{.lr = 0.01, .weight_decay = 0.1}};
  set_gradients(parameters, 1);
  optimizer.step(parameters, {});
  const at::Tensor value = parameters[1].value.cpu();
  const auto before = state_of(optimizer);
  set_gradients(parameters, 2);
  parameters[1].gradient[0] = std::numeric_limits<float>::quiet_NaN();
  Outcome outcome = optimizer.step(parameters, {.max_grad_norm = 1});
  EXPECT_FALSE(outcome.known());
  EXPECT_EQ(outcome.problem(), "the gradient of dense.bias is not finite");
  EXPECT_EQ(difference(parameters[1].value, value), 0);
  EXPECT_EQ(state_of(optimizer), before);
  EXPECT_EQ(parameters[1].gradient.count_nonzero().item<std::int64_t>(), 0);
}

TEST(AdamOnDevice, TakesGradientsWhoseNormAloneIsBeyondAFloat) {
  const auto after = [](c10::Device device) {
    Parameters parameters = parameters_on(device);
    set_gradients(parameters, 1);
    parameters[0].gradient.fill_(3e38F);
    Adam optimizer{{.lr = 0.1}};
    EXPECT_EQ(optimizer.step(parameters, {.max_grad_norm = 1}).problem(), "");
    return parameters[0].value;
  };
  EXPECT_LT(difference(after(fake_device), after(c10::kCPU)), 1e-6);
}

TEST(AdamOnDevice, NothingWaitsForAStep) {
  Parameters parameters = parameters_on(fake_device);
  set_gradients(parameters, 1);
  Adam optimizer{{.lr = 0.1}};
  optimizer.step(parameters, {});
  tests::reset_device_counts();
  optimizer.step(parameters, {.max_grad_norm = 1});
  EXPECT_EQ(tests::device_counts().waits, 0);
}

TEST(AveragedOnDevice, EqualsTheProcessorsAndWaitsForNothing) {
  const auto averages_on = [](c10::Device device) {
    Parameters parameters = parameters_on(device);
    Averaged optimizer{Adam{{.lr = 0.1}}, 0.9};
    for (std::int64_t step = 0; step < 20; ++step) {
      set_gradients(parameters, step);
      if (step == 10) parameters[1].gradient[2] = std::numeric_limits<float>::infinity();
      tests::reset_device_counts();
      optimizer.step(parameters, {});
      EXPECT_EQ(tests::device_counts().waits, 0);
    }
    optimizer.exchange_averages(parameters);
    return parameters;
  };
  const Parameters host = averages_on(c10::kCPU), device = averages_on(fake_device);
  for (std::size_t i = 0; i < host.size(); ++i) {
    EXPECT_LT(difference(host[i].value, device[i].value), 1e-6) << host[i].name;
  }
}

}  // namespace
}  // namespace seqtrain::optim
