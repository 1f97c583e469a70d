// A loss of your own: the distance between the probabilities and the label, squared.
#include <cstdint>
#include <iostream>
#include <memory>
#include <vector>

#include <ATen/ops/one_hot.h>
#include <torch/nn/modules/embedding.h>

#include <seqtrain/seqtrain.hpp>

using namespace seqtrain;

struct Brier {
  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch& batch) const {
    const at::Tensor label = at::one_hot(batch.labels.to(at::kLong), logits.size(1));
    return (logits.softmax(1) - label).square().sum(1);
  }
};

struct Words : torch::nn::Module {
  at::Tensor forward(const tensor::Batch& batch) { return rows(batch.input_ids).mean(1); }
  torch::nn::Embedding rows{register_module("rows", torch::nn::Embedding(10, 2))};
};

data::EncodedSet texts() {
  data::EncodedSet set{10, 0};
  for (std::int32_t i = 0; i < 60; ++i) set.push_back(std::vector{1 + i % 7, 8 + i % 2}, 2, i % 2);
  return set;
}

int main() {
  Trainer trainer{model::NnModule{std::make_shared<Words>(), Brier{}}, optim::Adam{{.lr = 0.1}},
                  data::BucketLoader{texts()}, sink::Discard{}};
  trainer.fit({.epochs = 20});
  const auto report = trainer.evaluate(data::BucketLoader{texts()}, {.split = "train"});
  std::cout << "accuracy " << report.accuracy << (report.loss < 0.1 ? ", loss below 0.1\n" : "\n");
}
