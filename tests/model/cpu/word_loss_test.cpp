#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <seqtrain/model/cpu/word_loss.hpp>
#include <seqtrain/model/precision.hpp>
#include <seqtrain/tensor/generator.hpp>
#include <seqtrain/tensor/threads.hpp>

namespace seqtrain::model::cpu {
namespace {

/// A decoder with words to predict.
struct WordCase {
  std::int64_t words, in, vocabulary;
  double scale = 1;
  at::Generator random = tensor::make_generator(3, c10::Device{c10::kCPU});
  at::Tensor x = leaf({words, in}), weight = leaf({vocabulary, in}), bias = leaf({vocabulary});
  at::Tensor labels = at::arange(words).mul(7919).remainder(vocabulary);

  at::Tensor leaf(at::IntArrayRef shape) {
    at::Tensor tensor = at::randn(shape, random).mul(scale);
    tensor.set_requires_grad(true);
    return tensor;
  }

  /// Returns the loss and the gradients of 3 · loss.
  std::vector<at::Tensor> gather(const at::Tensor& loss) {
    loss.mul(3).backward();
    std::vector<at::Tensor> results{loss.detach()};
    for (at::Tensor tensor : {x, weight, bias}) {
      results.push_back(tensor.grad());
      tensor.mutable_grad() = at::Tensor{};
    }
    return results;
  }

  at::Tensor loss(Precision precision = Precision::fp32) const {
    const std::span all{labels.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(words)};
    return (*make_word_loss(precision))(x, weight, bias, all);
  }
  at::Tensor torchs() const { return at::cross_entropy_loss(at::linear(x, weight, bias), labels); }
};

void expect_torchs_loss(Precision precision, double tolerance) {
  for (WordCase example : {WordCase{1, 7, 2}, WordCase{37, 12, 40}, WordCase{600, 33, 700},
                           WordCase{514, 64, 257}, WordCase{40, 16, 300, 8}}) {
    const std::vector<at::Tensor> got = example.gather(example.loss(precision));
    const std::vector<at::Tensor> expected = example.gather(example.torchs());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double size = expected[i].norm().item<double>();
      EXPECT_LE(got[i].sub(expected[i]).norm().item<double>(), tolerance * size)
          << example.words << " " << i;
    }
  }
}

TEST(WordLoss, IsTorchsCrossEntropy) {
  expect_torchs_loss(Precision::fp32, 1e-5);
}

TEST(WordLoss, IsCloseToItInBf16) {
  expect_torchs_loss(Precision::bf16, 3e-2);
}

TEST(WordLoss, HasEqualBitsWithAnyNumberOfThreads) {
  const int before = tensor::threads();
  WordCase example{600, 33, 700};
  tensor::set_threads(1);
  const auto expected = example.gather(example.loss());
  for (const int threads : {2, 3, 5}) {
    tensor::set_threads(threads);
    const auto got = example.gather(example.loss());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].equal(expected[i])) << i;
  }
  tensor::set_threads(before);
}

TEST(WordLoss, LeavesOutGradientsThatNobodyNeeds) {
  WordCase example{37, 12, 40};
  const auto all = example.gather(example.loss());
  example.x.set_requires_grad(false);
  const auto decoder = example.gather(example.loss());
  EXPECT_FALSE(decoder[1].defined());
  EXPECT_TRUE(decoder[2].equal(all[2]));
  const at::NoGradGuard no_gradients;
  EXPECT_TRUE(example.loss().equal(all[0]));
}

}  // namespace
}  // namespace seqtrain::model::cpu
