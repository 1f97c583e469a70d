#include <cmath>
#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <seqtrain/model/awd_lstm/regularization.hpp>

namespace seqtrain::model {
namespace {

constexpr std::int64_t state_rows = 3, state_width = 7, state_size = 2;

at::Tensor made_states() {
  return at::arange(state_rows * state_width * state_size, at::kFloat)
      .mul_(1.7)
      .sin_()
      .view({state_rows, state_width, state_size});
}

/// Returns the regularization of states that are laid out as fastai lays them out: zeros for whole
/// chunks of padding, then the words and the rest of the padding.
double regularization(const at::Tensor& states, const at::Tensor& lengths,
                      const RegularizationOptions& options) {
  at::Tensor laid_out = at::zeros({state_rows, state_width, state_size}, at::kDouble);
  for (std::int64_t row = 0; row < state_rows; ++row) {
    const std::int64_t padding = state_width - lengths[row].item<std::int64_t>();
    const std::int64_t zeros = padding / options.bptt * options.bptt;
    laid_out[row].slice(0, zeros).copy_(states[row].slice(0, 0, state_width - zeros));
  }
  const at::Tensor change = laid_out.slice(1, 1).sub(laid_out.slice(1, 0, -1));
  return options.alpha * laid_out.square().mean().item<double>() +
         options.beta * change.square().mean().item<double>();
}

/// Expects the gradient that differences of the regularization give.
void expect_gradient(const RegularizationOptions& options) {
  const at::Tensor states = made_states().to(at::kDouble);
  const at::Tensor lengths = at::tensor({7, 4, 1}).to(at::kInt);
  const at::Tensor gradient = at::zeros_like(states);
  add_regularization_gradient(gradient, states, lengths, options);
  for (std::int64_t i = 0; i < states.numel(); ++i) {
    const auto moved = [&](double by) {
      at::Tensor other = states.clone();
      other.view({-1})[i].add_(by);
      return regularization(other, lengths, options);
    };
    EXPECT_NEAR(gradient.view({-1})[i].item<double>(), (moved(1e-3) - moved(-1e-3)) / 2e-3, 1e-6)
        << i;
  }
}

TEST(Regularization, HasTheGradientOfMeanSquares) {
  expect_gradient({.alpha = 2, .beta = 0, .bptt = 2});
  expect_gradient({.alpha = 0, .beta = 1, .bptt = 2});
  expect_gradient({.alpha = 2, .beta = 1, .bptt = 3});
  expect_gradient({.alpha = 0.5, .beta = 3, .bptt = 72});
}

TEST(Regularization, AddsToAGradient) {
  const at::Tensor states = made_states();
  const at::Tensor lengths = at::tensor({7, 7, 7}).to(at::kInt);
  const at::Tensor gradient = at::zeros_like(states).fill_(5);
  add_regularization_gradient(gradient, states, lengths, {.alpha = 3, .beta = 0});
  EXPECT_TRUE(gradient.allclose(states.mul(6.0 / 42).add(5)));
}

TEST(Regularization, LeavesOutChangesWhereThereIsOneWord) {
  const at::Tensor states = made_states().slice(1, 0, 1).contiguous();
  const at::Tensor gradient = at::zeros_like(states);
  add_regularization_gradient(gradient, states, at::tensor({1, 1, 1}).to(at::kInt), {.alpha = 0});
  EXPECT_EQ(gradient.abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace seqtrain::model
