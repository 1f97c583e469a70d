#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <seqtrain/concepts/policies.hpp>
#include <seqtrain/model/nn_module.hpp>
#include <seqtrain/optim/adam.hpp>

#include "support/model_conformance.hpp"
#include "support/problem_of.hpp"

namespace seqtrain::model {
namespace {

/// Computes the mean of the tokens' embeddings, and a linear layer.
struct BagOfWords : torch::nn::Module {
  explicit BagOfWords(double probability)
      : words{register_module("words", torch::nn::Embedding(10, 8))},
        dropout{register_module("dropout", torch::nn::Dropout(probability))},
        out{register_module("out", torch::nn::Linear(8, 2))} {}

  torch::Tensor forward(const tensor::Batch& batch) {
    return out(dropout(words(batch.input_ids).mean(1)));
  }

  torch::nn::Embedding words;
  torch::nn::Dropout dropout;
  torch::nn::Linear out;
};

struct Bag {
  static NnModule<BagOfWords> make(double /*dropout*/, std::uint64_t seed) {
    torch::manual_seed(seed);
    return NnModule{std::make_shared<BagOfWords>(0)};
  }
  static data::Batch batch(std::int64_t index) {
    data::Batch batch;
    batch.index = index;
    batch.rows = 2;
    batch.width = 3;
    batch.input_ids = {1, 2, 3, 4, 5, 6};
    batch.token_type_ids.assign(6, 0);
    batch.lengths = {3, 3};
    batch.labels = {0, 1};
    batch.row_ids = {0, 1};
    return batch;
  }
};

TEST(NnModule, KeepsNamesAndFreezesWhatNeedsNoGradient) {
  auto module = std::make_shared<BagOfWords>(0.1);
  module->words->weight.set_requires_grad(false);
  const NnModule model{module};
  ASSERT_EQ(model.parameters().size(), 3U);
  EXPECT_EQ(model.parameters()[0].name, "words.weight");
  EXPECT_FALSE(model.parameters()[0].gradient.defined());
  EXPECT_TRUE(model.parameters()[1].gradient.defined());
}

/// Computes a linear layer of the mean token id, and batch normalization, which has running
/// statistics.
struct Normalised : torch::nn::Module {
  torch::Tensor forward(const tensor::Batch& batch) {
    return norm(out(batch.input_ids.to(torch::kFloat).mean(1, /*keepdim=*/true)));
  }

  torch::nn::Linear out{register_module("out", torch::nn::Linear(1, 2))};
  torch::nn::BatchNorm1d norm{register_module("norm", torch::nn::BatchNorm1d(2))};
  torch::Tensor mask{register_buffer("mask", torch::full({2}, -INFINITY))};
};

TEST(NnModule, KeepsRunningFiguresFromABatchThatIsNotFinite) {
  const tests::OneThread one_thread;
  auto module = std::make_shared<Normalised>();
  NnModule model{module};
  optim::Adam optimizer;
  model.accumulate(Bag::batch(0), 1);
  optimizer.step(model.parameters(), {});
  const auto mean = module->norm->running_mean.clone();
  const auto variance = module->norm->running_var.clone();
  EXPECT_NE(mean.count_nonzero().item<std::int64_t>(), 0);
  const auto weight = module->out->weight.detach().clone();
  module->out->weight.detach().fill_(NAN);
  model.accumulate(Bag::batch(1), 1);
  EXPECT_NE(optimizer.step(model.parameters(), {}).problem(), "");
  module->out->weight.detach().copy_(weight);
  EXPECT_TRUE(module->norm->running_mean.equal(mean));
  EXPECT_TRUE(module->norm->running_var.equal(variance));
  model.accumulate(Bag::batch(1), 1);
  EXPECT_FALSE(module->norm->running_mean.equal(mean));
}

static_assert(Checkpointable<NnModule<BagOfWords>, optim::Adam>);

std::vector<std::string> names_of(const tensor::StateDict& state) {
  std::vector<std::string> names;
  for (const auto& view : state.views()) names.push_back(view.name);
  return names;
}

TEST(NnModule, GoesOnFromASavedStateBitForBit) {
  const tests::OneThread one_thread;
  auto module = std::make_shared<Normalised>();
  NnModule model{module};
  optim::Adam optimizer{{.lr = 0.1}};
  const auto step = [](auto& of, auto& by, std::int64_t index) {
    const auto loss = static_cast<double>(of.accumulate(Bag::batch(index), 1));
    by.step(of.parameters(), {});
    return loss;
  };
  for (int i = 0; i < 3; ++i) step(model, optimizer, i);
  EXPECT_EQ(names_of(model.state_dict()),
            (std::vector<std::string>{"out.weight", "out.bias", "norm.weight", "norm.bias", "mask",
                                      "norm.running_mean", "norm.running_var",
                                      "norm.num_batches_tracked"}));
  NnModule resumed{std::make_shared<Normalised>()};
  const at::Tensor weight = resumed.parameters()[0].value;
  resumed.load_state_dict(model.state_dict().views());
  EXPECT_TRUE(weight.equal(model.parameters()[0].value));  // copied into the same tensor
  EXPECT_EQ(resumed.module().norm->num_batches_tracked.item<std::int64_t>(), 3);
  optim::Adam other{{.lr = 0.1}};
  other.load_state(optimizer.state().views(), resumed.parameters());
  EXPECT_EQ(resumed.logits(Bag::batch(0)), model.logits(Bag::batch(0)));
  for (int i = 3; i < 6; ++i) EXPECT_EQ(step(resumed, other, i), step(model, optimizer, i));
}

TEST(NnModule, RefusesAStateThatDoesNotFit) {
  NnModule model{std::make_shared<Normalised>()};
  const auto problem = [&](auto change) {
    const auto state = model.state_dict();
    std::vector<weights::TensorView> views{state.views().begin(), state.views().end()};
    change(views);
    return tests::problem_of([&] { model.load_state_dict(views); });
  };
  EXPECT_NO_THROW(model.load_state_dict(model.state_dict().views()));
  EXPECT_NE(problem([](auto& views) {
              views[0].shape = {1, 2};
            }).find("out.weight: is a tensor"),
            std::string::npos);
  EXPECT_NE(problem([](auto& views) { views[0].name = "in.weight"; }).find("out.weight: missing"),
            std::string::npos);
  EXPECT_NE(problem([](auto& views) { views.pop_back(); }).find("num_batches_tracked: missing"),
            std::string::npos);
  EXPECT_NE(problem([](auto& views) { views.back().dtype = weights::DType::i32; }).find("I64"),
            std::string::npos);
  const auto more = problem([](auto& views) {
    views.push_back(views[0]);
    views.back().name = "other";
  });
  EXPECT_NE(more.find("other: belongs to no parameter"), std::string::npos) << more;
}

/// A module that has one matrix under two names.
struct Tied : torch::nn::Module {
  Tied() { out->weight = register_parameter("again", words->weight); }
  torch::Tensor forward(const tensor::Batch& batch) {
    return torch::linear(words(batch.input_ids).mean(1), out->weight);
  }

  torch::nn::Embedding words{register_module("words", torch::nn::Embedding(10, 8))};
  torch::nn::Linear out{8, 10};
};

TEST(NnModule, StepsASharedParameterOnce) {
  NnModule model{std::make_shared<Tied>()};
  ASSERT_EQ(model.parameters().size(), 1U);
  model.accumulate(Bag::batch(0), 1);
  EXPECT_NE(model.parameters()[0].gradient.count_nonzero().item<std::int64_t>(), 0);
}

}  // namespace
}  // namespace seqtrain::model

namespace seqtrain::tests {
INSTANTIATE_TYPED_TEST_SUITE_P(NnModule, ModelConformance, model::Bag);
}  // namespace seqtrain::tests
