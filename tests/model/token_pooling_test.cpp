#include <cstdint>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>

#include <seqtrain/model/any_classifier.hpp>
#include <seqtrain/model/load_classifier.hpp>
#include <seqtrain/model/own_head.hpp>
#include <seqtrain/model/token_pooling.hpp>

#include "support/made_checkpoint.hpp"

namespace seqtrain::model {
namespace {

float distance_of_states(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<float>();
}

/// All states are below 0, so that padding, which is 0, would be the greatest. As in an encoder,
/// states are multiplied by the mask of tokens.
TEST(TokenPooling, LeavesPaddingOutOfValuesAndGradients) {
  const std::vector<std::int64_t> lengths{5, 1, 3};
  at::Tensor tokens = at::randn({3, 5, 8}).abs().add(0.1).neg();
  tokens[1].slice(0, 1).zero_();
  tokens[2].slice(0, 3).zero_();
  for (const auto& [pool, reduce] :
       {std::pair{&mean_of_tokens, +[](const at::Tensor& row) { return row.mean(0); }},
        std::pair{&max_of_tokens, +[](const at::Tensor& row) { return row.amax(0); }}}) {
    const at::Tensor ours = tokens.clone().set_requires_grad(true);
    const at::Tensor theirs = tokens.clone().set_requires_grad(true);
    std::vector<at::Tensor> rows;
    for (std::int64_t row = 0; row < 3; ++row) {
      rows.push_back(reduce(theirs[row].slice(0, 0, lengths[static_cast<std::size_t>(row)])));
    }
    const at::Tensor pooled = pool(ours.mul(tokens.ne(0))), expected = at::stack(rows);
    EXPECT_LT(distance_of_states(pooled, expected), 1e-6F);
    pooled.square().sum().backward();
    expected.square().sum().backward();
    EXPECT_LT(distance_of_states(ours.grad(), theirs.grad()), 1e-6F);
  }
}

/// The mean and the greatest of the tokens, one after the other, as in ULMFiT.
struct MeanAndMax : torch::nn::Module {
  MeanAndMax(std::int64_t hidden_size, std::int64_t labels)
      : outer{register_module("outer", torch::nn::Linear(2 * hidden_size, labels))} {}

  at::Tensor forward(const at::Tensor& tokens) {
    return outer(at::cat({mean_of_tokens(tokens), max_of_tokens(tokens)}, 1));
  }

  torch::nn::Linear outer;
};

TEST(TokenPooling, PoolsTheTokensOfAnyEncoder) {
  for (const char* const family : {"bert", "modernbert", "deberta-v2", "mpnet"}) {
    SCOPED_TRACE(family);
    const tests::MadeCheckpoint checkpoint{{.family = family}};
    const auto batch = tests::MadeCheckpoint::batch(0);
    const auto load = [&](OwnHead head) {
      return load_classifier(checkpoint.path(),
                             {.labels = {"a", "b", "c"}, .dropout = 0.0, .head = std::move(head)});
    };
    const at::Tensor tokens = load(no_head(Pooling::none)).hidden(batch);
    const at::Tensor mean = load(no_head(Pooling::mean)).hidden(batch);
    EXPECT_LT(distance_of_states(mean_of_tokens(tokens), mean), 1e-5F);
    auto model = load(own_head<MeanAndMax>(Pooling::none));
    (void)model.accumulate(batch, 1);
    for (const auto& parameter : model.parameters()) {
      EXPECT_TRUE(parameter.gradient.isfinite().all().item<bool>()) << parameter.name;
    }
    EXPECT_TRUE(model.logits(batch).allFinite());
  }
}

}  // namespace
}  // namespace seqtrain::model
