#include <cstdint>
#include <memory>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <seqtrain/model/nn_module.hpp>

#include "support/model_conformance.hpp"

namespace seqtrain::model {
namespace {

/// The mean of the tokens' embeddings, and a linear map.
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

}  // namespace
}  // namespace seqtrain::model

namespace seqtrain::tests {
INSTANTIATE_TYPED_TEST_SUITE_P(NnModule, ModelConformance, model::Bag);
}  // namespace seqtrain::tests
