#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/Device.h>
#include <gtest/gtest.h>

#include <seqtrain/cuda/layer_norm_kernel.hpp>
#include <seqtrain/model/describe.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/packed/attention.hpp>
#include <seqtrain/model/packed/norm.hpp>
#include <seqtrain/model/packed/norm_on_device.hpp>
#include <seqtrain/model/packed/seeded_dropout.hpp>
#include <seqtrain/tensor/generator.hpp>

#include "support/environment.hpp"
#include "support/fake_device.hpp"
#include "support/made_checkpoint.hpp"
#include "support/on_device.hpp"

namespace seqtrain::model::packed {
namespace {

using tests::difference;
using tests::fake_device;

LayerNorm made_norm(std::int64_t size, bool learns = true) {
  LayerNorm norm = LayerNorm::none();
  norm.kind = LayerNorm::Kind::mean_and_variance;
  norm.weight = at::randn({size}).to(fake_device).set_requires_grad(learns);
  norm.bias = at::randn({size}).to(fake_device).set_requires_grad(learns);
  norm.eps = 1e-5;
  if (!learns) return norm;
  norm.weight.mutable_grad() = at::ones({size}).to(fake_device);
  norm.bias.mutable_grad() = at::ones({size}).to(fake_device);
  return norm;
}

TEST(NormOnDevice, EqualsTorchsOperatorsWithoutWaiting) {
  const at::NoGradGuard no_gradients;
  const NormOnDevice kernels{fake_device};
  for (const bool pre_norm : {false, true}) {
    for (const std::int64_t rows : {1, 30, 600}) {
      const LayerNorm norm = made_norm(48);
      const at::Tensor residual = at::randn({rows, 48}).to(fake_device);
      const at::Tensor x = at::randn({rows, 48}).to(at::kBFloat16).to(fake_device);
      const at::Tensor d_y = at::randn({rows, 48}).to(fake_device);
      const at::Tensor sum = residual.add(x);
      const auto [y, mean, rstd] =
          at::native_layer_norm(sum, {48}, norm.weight, norm.bias, norm.eps);
      const auto [d_sum, d_weight, d_bias] = at::native_layer_norm_backward(
          d_y, sum, {48}, mean, rstd, norm.weight, norm.bias, {true, true, true});
      tests::reset_device_counts();
      NormOnDevice::Pass pass;
      const Hidden made = kernels.forward(norm, pre_norm, residual, x, {}, &pass);
      const auto d = kernels.backward(norm, d_y, pre_norm ? residual : at::Tensor{}, pass);
      EXPECT_EQ(tests::device_counts().waits, 0);
      EXPECT_EQ(tests::device_counts().copies_to, 0);
      EXPECT_LT(difference(made.normal, y), 3e-6);
      EXPECT_EQ(difference(made.narrow, made.normal.to(at::kBFloat16)), 0);
      EXPECT_TRUE(made.residual.is_same(pre_norm ? pass.sum : made.normal));
      EXPECT_LT(difference(d.sum, pre_norm ? d_sum.add(residual) : d_sum), 1e-5);
      EXPECT_EQ(difference(d.x, d.sum.to(at::kBFloat16)), 0);
      EXPECT_LT(difference(norm.weight.grad(), d_weight.add(1)), 1e-4);
      EXPECT_LT(difference(norm.bias.grad(), d_bias.add(1)), 1e-4);
    }
  }
}

TEST(NormOnDevice, GivesFrozenParametersNoGradients) {
  const at::NoGradGuard no_gradients;
  const NormOnDevice kernels{fake_device};
  const LayerNorm norm = made_norm(32, false);
  const at::Tensor x = at::randn({4, 32}).to(fake_device);
  NormOnDevice::Pass pass;
  (void)kernels.forward(norm, false, x, x, {}, &pass);
  tests::reset_device_counts();
  const auto d = kernels.backward(norm, x, {}, pass);
  EXPECT_TRUE(d.x.is_same(d.sum));
  EXPECT_FALSE(norm.weight.grad().defined());
}

TEST(NormOnDevice, TakesLayerNormsInFp32) {
  const NormOnDevice kernels{fake_device};
  LayerNorm norm = made_norm(4'096);
  EXPECT_TRUE(kernels.takes(norm));
  norm.bias = at::Tensor{};
  EXPECT_TRUE(kernels.takes(norm));
  EXPECT_FALSE(kernels.takes(made_norm(4'097)));
  norm.weight = norm.weight.detach().to(at::kHalf);
  EXPECT_FALSE(kernels.takes(norm));
  EXPECT_FALSE(kernels.takes(LayerNorm::none()));
}

TEST(DropoutMasks, DrawsOneSeedOfTheDevicesGenerator) {
  const auto seed_of = [](std::uint64_t seed) {
    const tensor::SeededGenerator seeded{seed, fake_device};
    DropoutMasks masks;
    EXPECT_FALSE(masks.next(0, fake_device).seed.defined());
    tests::reset_device_counts();
    const auto first = masks.next(0.5, fake_device), second = masks.next(0.25, fake_device);
    EXPECT_EQ(tests::device_counts().waits, 0);
    EXPECT_EQ(tests::device_counts().copies_to, 0);
    EXPECT_TRUE(first.seed.is_same(second.seed));
    EXPECT_EQ(first.mask, 0U);
    EXPECT_EQ(second.mask, 1U);
    EXPECT_EQ(second.argument().dropped, 1U << 30);
    return first.seed.item<std::int64_t>();
  };
  EXPECT_EQ(seed_of(3), seed_of(3));
  EXPECT_NE(seed_of(3), seed_of(4));
}

TEST(AddAndNorm, DropsAtItsRateByTheKernels) {
  const at::NoGradGuard no_gradients;
  const auto kernels = std::make_shared<const NormOnDevice>(fake_device);
  const Rows rows{};
  // Returns the sum of nothing and of ones after dropout.
  const auto summed = [&](double rate, bool training) {
    AddAndNorm part{made_norm(64), rate, LayerTraits{.pre_norm = true}, kernels};
    const at::Tensor x = at::ones({200, 64}).to(fake_device);
    return part.forward(at::zeros_like(x), x, rows, training).residual.cpu();
  };
  EXPECT_TRUE(summed(0, true).equal(at::ones({200, 64})));
  EXPECT_TRUE(summed(0.25, false).equal(at::ones({200, 64})));
  for (const double rate : {0.25, 0.5}) {
    const at::Tensor sum = summed(rate, true);
    EXPECT_NEAR(sum.max().item<double>(), 1 / (1 - rate), 1e-6);
    EXPECT_NEAR(sum.eq(0).to(at::kDouble).mean().item<double>(), rate, 0.02);
    EXPECT_FALSE(sum.equal(summed(rate, true)));  // each use has a mask of its own
  }
}

TEST(NormOnDevice, IsChosenByTheEnvironmentAlone) {
  std::vector<std::string> sentences;
  const auto say = [&](const std::string& text) { sentences.push_back(text); };
  const tests::Environment nothing{"SEQTRAIN_GPU_KERNELS", "adam"};
  EXPECT_EQ(NormOnDevice::make(fake_device, say), nullptr);
  const tests::Environment all{"SEQTRAIN_GPU_KERNELS", "adam,layer_norm"};
  EXPECT_EQ(NormOnDevice::make(c10::kCPU, say), nullptr);
  EXPECT_NE(NormOnDevice::make(fake_device, say), nullptr);
  EXPECT_TRUE(sentences.empty());
  EXPECT_EQ(NormOnDevice::make(c10::Device{"meta"}, say), nullptr);
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0],
            "torch's operators compute layer norms: meta: kernels of our own are for GPUs of "
            "NVIDIA");
}

TEST(NormOnDevice, IsNotChosenIfAKernelDoesNothing) {
  const tests::Environment asked{"SEQTRAIN_GPU_KERNELS", "layer_norm"};
  for (const auto& source : {cuda::layer_norm_kernel, cuda::layer_norm_backward_kernel,
                             cuda::layer_norm_gradients_kernel}) {
    const tests::Environment idle{"SEQTRAIN_FAKE_IDLE_KERNEL", std::string{source.name}};
    std::string sentence;
    EXPECT_EQ(NormOnDevice::make(fake_device, [&](const auto& text) { sentence = text; }), nullptr);
    EXPECT_EQ(sentence,
              "torch's operators compute layer norms: fake:0: the kernels of layer norms compute "
              "wrong numbers")
        << source.name;
  }
}

/// Returns the last line that a log gets about a model with layers of this size.
std::string said_of(const tests::MadeModel& made, bool autograd = false) {
  const tests::MadeCheckpoint checkpoint{made};
  const ClassifierOptions options{.device = fake_device, .autograd = autograd};
  const std::string lines = describe(load_classifier(checkpoint.path(), options), options);
  return lines.substr(lines.rfind('\n') + 1);
}

TEST(NormOnDevice, IsNamedInALineOfTheLog) {
  EXPECT_EQ(said_of({.layers = 1}), "Precision: fp32");
  const tests::Environment asked{"SEQTRAIN_GPU_KERNELS", "layer_norm"};
  EXPECT_EQ(said_of({.layers = 1}), "Layer norms are kernels of our own on fake:0");
  EXPECT_EQ(said_of({.layers = 1}, true),
            "torch's operators compute layer norms, as they do the whole encoder");
  const tests::Environment idle{"SEQTRAIN_FAKE_IDLE_KERNEL", "seqtrain_layer_norm"};
  EXPECT_EQ(said_of({.layers = 1}),
            "torch's operators compute layer norms: fake:0: the kernels of layer norms compute "
            "wrong numbers");
}

TEST(SlowNormOnDevice, LeavesLargerNormsToOperators) {
  const tests::Environment asked{"SEQTRAIN_GPU_KERNELS", "layer_norm"};
  EXPECT_EQ(said_of({.layers = 1, .hidden = 4'104, .inner = 8}),
            "torch's operators compute layer norms: kernels of our own do not take their sizes or "
            "types");
}

}  // namespace
}  // namespace seqtrain::model::packed
