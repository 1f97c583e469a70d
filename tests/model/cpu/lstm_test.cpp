#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <ATen/ops/lstm.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <seqtrain/model/awd_lstm/awd_lstm.hpp>
#include <seqtrain/model/cpu/lstm.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {
namespace {

/// A layer's tensors, and how they come out.
struct LayerCase {
  std::int64_t rows, steps, in, hidden;
  at::Generator generator = tensor::make_generator(7, c10::Device{c10::kCPU});
  at::Tensor x = leaf({rows, steps, in});
  std::vector<at::Tensor> weights{leaf({4 * hidden, in}), leaf({4 * hidden, hidden}),
                                  leaf({4 * hidden}), leaf({4 * hidden})};
  at::Tensor h = some({rows, hidden}), c = some({rows, hidden});
  at::Tensor d_y = some({rows, steps, hidden});

  at::Tensor some(at::IntArrayRef shape) {
    return at::randn(shape, generator).div(std::sqrt(static_cast<double>(hidden)));
  }
  at::Tensor leaf(at::IntArrayRef shape) {
    at::Tensor tensor = some(shape);
    tensor.set_requires_grad(true);
    return tensor;
  }

  /// The hidden states, the state after, and the gradients of x and the weights.
  std::vector<at::Tensor> gather(const at::Tensor& y, const RecurrentState::Layer& state) {
    if (y.requires_grad()) y.backward(d_y);
    std::vector<at::Tensor> results{y.detach(), state.h, state.c};
    for (at::Tensor tensor : {x, weights[0], weights[1], weights[2], weights[3]}) {
      results.push_back(tensor.grad());
      tensor.mutable_grad() = at::Tensor{};
    }
    return results;
  }

  at::Tensor run(Lstm& lstm, const at::Tensor& values, RecurrentState::Layer& state) {
    const LstmTensors tensors{weights[0], weights[1], weights[2], weights[3]};
    return lstm(values, tensors, state.h, state.c);
  }

  std::vector<at::Tensor> by_hand(Lstm& lstm) {
    RecurrentState::Layer state{h, c};
    const at::Tensor y = run(lstm, x, state);
    return gather(y, state);
  }
  std::vector<at::Tensor> by_hand(Precision precision = Precision::fp32) {
    return by_hand(*make_lstm(precision));
  }

  std::vector<at::Tensor> by_torch() {
    const auto [y, last_h, last_c] =
        at::lstm(x, {h.unsqueeze(0), c.unsqueeze(0)}, weights, true, 1, 0, true, false, true);
    return gather(y, {last_h.squeeze(0).detach(), last_c.squeeze(0).detach()});
  }
};

void expect_near(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& expected,
                 double value, double gradient) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].defined(), expected[i].defined()) << i;
    if (!got[i].defined()) continue;
    const at::Tensor difference = got[i].sub(expected[i]);
    if (i < 3) {
      EXPECT_LE(difference.abs().max().item<double>(), value) << i;
    } else {
      const double size = expected[i].norm().item<double>();
      EXPECT_LE(difference.norm().item<double>(), gradient * size) << i;
    }
  }
}

/// Even and odd sizes, fewer and more units than a panel, one step and one row.
std::vector<LayerCase> layer_cases() {
  return {{3, 5, 12, 16}, {5, 7, 13, 10}, {33, 6, 65, 70}, {1, 9, 64, 128}, {4, 1, 7, 33}};
}

TEST(Lstm, IsTorchs) {
  for (LayerCase layer : layer_cases()) {
    expect_near(layer.by_hand(), layer.by_torch(), 1e-5, 1e-4);
  }
}

TEST(Lstm, IsCloseToTorchsInBf16) {
  for (LayerCase layer : layer_cases()) {
    expect_near(layer.by_hand(Precision::bf16), layer.by_torch(), 2e-2, 2e-2);
  }
}

void expect_equal_bits_with_any_threads(Precision precision) {
  const int before = tensor::threads();
  LayerCase layer{20, 4, 70, 130};
  tensor::set_threads(1);
  const auto expected = layer.by_hand(precision);
  for (const int threads : {2, 3, 5}) {
    tensor::set_threads(threads);
    const auto got = layer.by_hand(precision);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i].equal(expected[i])) << threads << " " << i;
    }
  }
  tensor::set_threads(before);
}

TEST(Lstm, HasEqualBitsWithAnyNumberOfThreads) {
  expect_equal_bits_with_any_threads(Precision::fp32);
  expect_equal_bits_with_any_threads(Precision::bf16);
}

TEST(Lstm, LeavesOutGradientsThatNobodyNeeds) {
  LayerCase layer{3, 5, 12, 16};
  const auto all = layer.by_hand();
  layer.x.set_requires_grad(false);
  auto weights_alone = layer.by_hand();
  EXPECT_FALSE(weights_alone[3].defined());
  EXPECT_TRUE(weights_alone[4].equal(all[4]));
  layer.x.set_requires_grad(true);
  for (at::Tensor weight : layer.weights) weight.set_requires_grad(false);
  const auto x_alone = layer.by_hand();
  EXPECT_TRUE(x_alone[3].equal(all[3]));
  EXPECT_FALSE(x_alone[5].defined());
}

TEST(Lstm, KeepsStretchesApartUntilTheirBackwardPass) {
  LayerCase layer{3, 5, 12, 16};
  const auto lstm = make_lstm(Precision::fp32);
  const auto expected = layer.by_hand(*lstm);
  RecurrentState::Layer first{layer.h, layer.c};
  const at::Tensor y = layer.run(*lstm, layer.x, first);
  RecurrentState::Layer second = first;
  (void)layer.run(*lstm, layer.x.detach().mul(3), second);
  const auto got = layer.gather(y, first);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i])) << i;
}

}  // namespace
}  // namespace seqtrain::model::cpu
