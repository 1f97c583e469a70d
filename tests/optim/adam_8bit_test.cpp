#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <gtest/gtest.h>

#include <seqtrain/optim/adam.hpp>
#include <seqtrain/optim/averaged.hpp>

#include "support/one_thread.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::optim {
namespace {

using Parameters = std::vector<tensor::Parameter>;

/// Returns a tensor whose numbers are some function of their indices.
at::Tensor made_tensor(at::IntArrayRef shape, double frequency) {
  at::Tensor tensor = at::zeros(shape);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    tensor.mutable_data_ptr<float>()[i] =
        static_cast<float>(std::sin(frequency * static_cast<double>(i * i % 9'973)));
  }
  return tensor;
}

/// A linear layer that learns another one, whose inputs have sizes from 1/1000 to 1. Its weight has
/// 8-bit moments, in 100 blocks; its bias has not.
struct LinearProblem {
  static constexpr std::int64_t in = 100, out = 64;
  at::Tensor target = made_tensor({out, in}, 0.37);
  Parameters parameters{{"map.weight", at::zeros({out, in}), at::zeros({out, in})},
                        {"map.bias", at::zeros({out}), at::zeros({out})}};

  /// Sets the gradients of a step and returns its loss.
  double set_gradients(std::int64_t step) {
    at::Tensor x = made_tensor({16, in}, 0.11 + 0.01 * static_cast<double>(step));
    x.mul_(at::pow(10, made_tensor({in}, 1.7).sub(1).mul(1.5)));
    const at::Tensor y = at::linear(x, parameters[0].value, parameters[1].value);
    const at::Tensor error = y.sub(at::linear(x, target));
    if (parameters[0].gradient.defined()) {
      parameters[0].gradient.copy_(error.t().matmul(x).div(16));
    }
    parameters[1].gradient.copy_(error.mean(0));
    return error.square().mean().item<double>();
  }

  void copy_values(const LinearProblem& from) {
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      parameters[p].value.copy_(from.parameters[p].value);
    }
  }
};

const AdamOptions eight_bit{.lr = 0.02, .weight_decay = 0.01, .eight_bit = true};
const AdamOptions fp32{.lr = 0.02, .weight_decay = 0.01};

/// Takes steps and returns the mean loss of the last ten.
template <class O>
double take_steps(O& optimizer, LinearProblem& problem, std::int64_t from, std::int64_t to) {
  double last = 0;
  for (std::int64_t step = from; step < to; ++step) {
    const double loss = problem.set_gradients(step);
    if (step >= to - 10) last += loss / 10;
    EXPECT_EQ(optimizer.step(problem.parameters, {.max_grad_norm = 1}).problem(), "");
  }
  return last;
}

std::size_t bytes_of(const Adam& adam, const std::string& tensor) {
  const tensor::StateDict state = adam.state();
  for (const auto& view : state.views()) {
    if (view.name == tensor) return view.bytes.size();
  }
  return 0;
}

TEST(Adam8bit, LearnsAsWellAsInFp32) {
  LinearProblem one, other;
  AdamW bytes{eight_bit}, floats{fp32};
  const double first = take_steps(floats, other, 0, 10);
  take_steps(bytes, one, 0, 10);
  const double of_floats = take_steps(floats, other, 10, 200);
  const double of_bytes = take_steps(bytes, one, 10, 200);
  EXPECT_LT(of_floats, 0.05 * first);
  EXPECT_NEAR(of_bytes / of_floats, 1, 0.1);
  EXPECT_FALSE(one.parameters[0].value.equal(other.parameters[0].value));
}

TEST(Adam8bit, KeepsFp32MomentsOfParametersThatAreSmallOrNoWholeBlocks) {
  LinearProblem problem;
  problem.parameters.push_back({"odd", at::zeros({4'097}), at::ones({4'097})});
  AdamW adam{eight_bit};
  take_steps(adam, problem, 0, 1);
  EXPECT_EQ(bytes_of(adam, "map.weight.exp_avg"), 100U * 65);
  EXPECT_EQ(bytes_of(adam, "map.weight.exp_avg_sq_root"), 100U * 65);
  EXPECT_EQ(bytes_of(adam, "map.bias.exp_avg_sq"), 4U * 64);
  EXPECT_EQ(bytes_of(adam, "odd.exp_avg_sq"), 4U * 4'097);
}

TEST(Adam8bit, KeepsFp32MomentsOfTables) {
  const auto trained = [](bool bytes) {
    Parameters table{{"table", made_tensor({100, 64}, 0.1), at::zeros({100, 64})}};
    table[0].touched = std::make_shared<tensor::RowSet>(100);
    AdamW adam{bytes ? eight_bit : fp32};
    for (std::int64_t step = 0; step < 5; ++step) {
      table[0].gradient[7 * step].fill_(0.1);
      adam.step(table, {});
    }
    EXPECT_EQ(bytes_of(adam, "table.exp_avg_sq"), 4U * 6'400);
    return table[0].value;
  };
  EXPECT_TRUE(trained(true).equal(trained(false)));
}

TEST(Adam8bit, GoesOnExactlyFromItsState) {
  LinearProblem straight, resumed;
  Averaged optimizer{AdamW{eight_bit}, 0.9};
  take_steps(optimizer, straight, 0, 30);
  resumed.copy_values(straight);
  Averaged other{AdamW{eight_bit}, 0.9};
  other.load_state(optimizer.state().views(), resumed.parameters);
  take_steps(optimizer, straight, 30, 60);
  take_steps(other, resumed, 30, 60);
  EXPECT_TRUE(resumed.parameters[0].value.equal(straight.parameters[0].value));
  other.exchange_averages(resumed.parameters);
  optimizer.exchange_averages(straight.parameters);
  EXPECT_TRUE(resumed.parameters[0].value.equal(straight.parameters[0].value));
}

TEST(Adam8bit, HasTheSameBitsAtAnyNumberOfThreads) {
  const auto trained = [] {
    Parameters parameters{{"w", at::zeros({300, 500}), at::zeros({300, 500})}};
    Adam adam{eight_bit};
    for (std::int64_t step = 0; step < 5; ++step) {
      parameters[0].gradient.copy_(made_tensor({300, 500}, 0.3 * static_cast<double>(step + 1)));
      adam.step(parameters, {});
    }
    return parameters[0].value;
  };
  const at::Tensor many = trained();
  const tests::OneThread one;
  EXPECT_TRUE(trained().equal(many));
}

TEST(Adam8bit, BeginsWithAParametersFirstGradient) {
  LinearProblem problem;
  const at::Tensor gradient = std::exchange(problem.parameters[0].gradient, at::Tensor{});
  AdamW adam{eight_bit};
  take_steps(adam, problem, 0, 5);
  EXPECT_EQ(problem.parameters[0].value.count_nonzero().item<std::int64_t>(), 0);
  EXPECT_EQ(bytes_of(adam, "map.weight.exp_avg"), 0U);
  problem.parameters[0].gradient = gradient;
  take_steps(adam, problem, 5, 6);
  // The first step with a gradient is of the size of the learning rate, but for the rounding.
  EXPECT_NEAR(problem.parameters[0].value.abs().max().item<double>(), eight_bit.lr, 1e-6);
}

TEST(Adam8bit, LeavesAllAsItIsWhereAGradientIsNotFinite) {
  LinearProblem problem;
  AdamW adam{eight_bit};
  take_steps(adam, problem, 0, 3);
  const at::Tensor value = problem.parameters[0].value.clone();
  const tensor::StateDict state = adam.state();
  std::vector<std::byte> before;
  for (const auto& view : state.views()) {
    before.insert(before.end(), view.bytes.begin(), view.bytes.end());
  }
  problem.set_gradients(3);
  problem.parameters[1].gradient[2] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(adam.step(problem.parameters, {}).problem(), "the gradient of map.bias is not finite");
  std::vector<std::byte> after;
  for (const auto& view : state.views()) {
    after.insert(after.end(), view.bytes.begin(), view.bytes.end());
  }
  EXPECT_TRUE(before == after);
  EXPECT_TRUE(problem.parameters[0].value.equal(value));
}

TEST(Adam8bit, RefusesTheStateOfOtherMoments) {
  LinearProblem problem;
  AdamW bytes{eight_bit}, floats{fp32};
  take_steps(bytes, problem, 0, 1);
  take_steps(floats, problem, 0, 1);
  EXPECT_EQ(tests::problem_of(
                [&] { AdamW{eight_bit}.load_state(floats.state().views(), problem.parameters); }),
            "map.weight.exp_avg: is a tensor of F32 and shape [64, 100], expected [100, 65] of U8");
  EXPECT_EQ(
      tests::problem_of([&] { AdamW{fp32}.load_state(bytes.state().views(), problem.parameters); }),
      "map.weight.exp_avg: is a tensor of U8 and shape [100, 65], expected [64, 100] of F32");
  LinearProblem wider;
  wider.parameters[0].value = at::zeros({64, 200});
  EXPECT_NE(tests::problem_of(
                [&] { AdamW{eight_bit}.load_state(bytes.state().views(), wider.parameters); }),
            "");
}

TEST(Adam8bit, NeedsGradientsInFp32OnTheProcessor) {
  LinearProblem problem;
  for (auto& parameter : problem.parameters) {
    parameter.value = parameter.value.to(at::kDouble);
    parameter.gradient = at::ones_like(parameter.value);
  }
  EXPECT_EQ(tests::problem_of([&] { AdamW{eight_bit}.step(problem.parameters, {}); }),
            "8-bit moments need gradients in fp32 on the processor");
  EXPECT_EQ(problem.parameters[0].value.count_nonzero().item<std::int64_t>(), 0);
}

}  // namespace
}  // namespace seqtrain::optim
