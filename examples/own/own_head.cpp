// A head of your own: two layers on the mean of a text's hidden states, which any backend computes.
#include <cstdint>

#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/linear.h>

#include <seqtrain/experiment.hpp>

using namespace seqtrain;

struct TwoLayers : torch::nn::Module {
  TwoLayers(std::int64_t hidden_size, std::int64_t labels)
      : inner{register_module("inner", torch::nn::Linear(hidden_size, 32))},
        outer{register_module("outer", torch::nn::Linear(32, labels))} {}

  at::Tensor forward(const at::Tensor& pooled) { return outer(inner(pooled).relu()); }

  torch::nn::Linear inner, outer;
};

int main(int argc, char** argv) {
  const experiment::ProgramOptions options{
      .name = "own_head", .head = model::own_head<TwoLayers>(model::Pooling::mean)};
  return experiment::run(argc, argv, options, [](experiment::Run& run) { run.fit(run.trainer()); });
}
