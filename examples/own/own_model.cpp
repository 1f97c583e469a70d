// Trains a torch::nn::Module of your own.
#include <cstdint>
#include <iostream>
#include <memory>
#include <vector>

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <seqtrain/seqtrain.hpp>

using namespace seqtrain;

struct BagOfWords : torch::nn::Module {
  at::Tensor forward(const tensor::Batch& batch) { return out(words(batch.input_ids).mean(1)); }

  torch::nn::Embedding words{register_module("words", torch::nn::Embedding(10, 16))};
  torch::nn::Linear out{register_module("out", torch::nn::Linear(16, 2))};
};

/// Returns texts whose label says which of the words 8 and 9 a text ends with.
data::EncodedSet texts() {
  data::EncodedSet set{10, 0};
  for (std::int32_t i = 0; i < 60; ++i) {
    const std::vector<std::int32_t> ids{1 + i % 7, 1 + i % 5, 8 + i % 2};
    set.push_back(ids, ids.size(), i % 2);
  }
  return set;
}

int main() {
  Trainer trainer{model::NnModule{std::make_shared<BagOfWords>()}, optim::Adam{{.lr = 1e-2}},
                  data::BucketLoader{texts()}, sink::Discard{}};
  trainer.fit({.epochs = 20});
  const auto report = trainer.evaluate(data::BucketLoader{texts()}, {.split = "train"});
  std::cout << "accuracy " << report.accuracy << '\n';
}
