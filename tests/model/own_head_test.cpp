#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/own_head.hpp>

#include "support/made_checkpoint.hpp"
#include "support/problem_of.hpp"
#include "support/temporary_directory.hpp"

namespace seqtrain::model {
namespace {

struct TwoLayers : torch::nn::Module {
  TwoLayers(std::int64_t hidden_size, std::int64_t labels)
      : inner{register_module("inner", torch::nn::Linear(hidden_size, 8))},
        outer{register_module("outer", torch::nn::Linear(8, labels))} {}

  at::Tensor forward(const at::Tensor& pooled) { return outer(inner(pooled).tanh()); }

  torch::nn::Linear inner, outer;
};

ClassifierOptions options_with(Pooling pooling, bool autograd = false) {
  return {.labels = {"a", "b", "c"},
          .dropout = 0.0,
          .head = own_head<TwoLayers>(pooling),
          .seed = 3,
          .autograd = autograd};
}

const tensor::Parameter& parameter(const AnyClassifier& model, const std::string& ending) {
  for (const auto& each : model.parameters()) {
    if (each.name.ends_with(ending)) return each;
  }
  throw Error{"no parameter " + ending};
}

/// The kernels and torch's operators compute the same logits and gradients below the head.
TEST(OwnHead, StandsOnAnyBackend) {
  for (const char* const family : {"bert", "modernbert", "deberta-v2"}) {
    for (const Pooling pooling : {Pooling::first_token, Pooling::mean}) {
      SCOPED_TRACE(family);
      const tests::MadeCheckpoint checkpoint{{.family = family}};
      auto kernels = load_classifier(checkpoint.path(), options_with(pooling));
      auto operators = load_classifier(checkpoint.path(), options_with(pooling, true));
      const auto batch = tests::MadeCheckpoint::batch(0);
      EXPECT_LT((kernels.logits(batch) - operators.logits(batch)).cwiseAbs().maxCoeff(), 1e-4F);
      (void)kernels.accumulate(batch, 1);
      (void)operators.accumulate(batch, 1);
      for (std::size_t i = 0; i < kernels.parameters().size(); ++i) {
        const auto &ours = kernels.parameters()[i], &theirs = operators.parameters()[i];
        ASSERT_EQ(ours.name, theirs.name);
        EXPECT_LT((ours.gradient - theirs.gradient).abs().max().item<float>(), 1e-4F) << ours.name;
      }
      EXPECT_GT(parameter(kernels, "head.inner.weight").gradient.abs().max().item<float>(), 0);
    }
  }
}

TEST(OwnHead, PoolsAsItIsAsked) {
  const tests::MadeCheckpoint checkpoint;
  const auto batch = tests::MadeCheckpoint::batch(0);
  auto mean = load_classifier(checkpoint.path(), options_with(Pooling::mean));
  auto first = load_classifier(checkpoint.path(), options_with(Pooling::first_token));
  EXPECT_GT((mean.logits(batch) - first.logits(batch)).cwiseAbs().maxCoeff(), 1e-3F);
}

TEST(OwnHead, IsSavedAndReadAgain) {
  const tests::MadeCheckpoint checkpoint;
  const tests::TemporaryDirectory directory;
  auto model = load_classifier(checkpoint.path(), options_with(Pooling::mean));
  EXPECT_EQ(parameter(model, "head.outer.bias").depth.part, tensor::Depth::Part::head);
  {
    const at::NoGradGuard no_gradients;
    parameter(model, "head.outer.bias").value.fill_(2);
  }
  model.save_pretrained(directory.path());
  auto other = options_with(Pooling::mean);
  other.seed = 4;  // of other initial values
  auto again = load_classifier(directory.path(), other);
  const auto batch = tests::MadeCheckpoint::batch(0);
  EXPECT_TRUE(model.logits(batch) == again.logits(batch));
  EXPECT_TRUE(again.load_report().fresh.empty());
}

TEST(OwnHead, BeginsWithTheSeed) {
  const tests::MadeCheckpoint checkpoint;
  const auto batch = tests::MadeCheckpoint::batch(0);
  const auto logits = [&](std::uint64_t seed) {
    auto options = options_with(Pooling::mean);
    options.seed = seed;
    return load_classifier(checkpoint.path(), options).logits(batch);
  };
  EXPECT_TRUE(logits(1) == logits(1));
  EXPECT_FALSE(logits(1) == logits(2));
}

TEST(OwnHead, DoesNotGoWithFewShot) {
  const tests::MadeCheckpoint checkpoint;
  auto options = options_with(Pooling::mean);
  options.few_shot = true;
  EXPECT_NE(tests::problem_of([&] {
              (void)load_classifier(checkpoint.path(), options);
            }).find("few_shot: has a head of its own"),
            std::string::npos);
}

}  // namespace
}  // namespace seqtrain::model
