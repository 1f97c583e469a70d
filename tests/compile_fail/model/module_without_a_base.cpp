// error: the module is not derived from torch::nn::Module
#include <memory>

#include <torch/nn/module.h>

#include <seqtrain/model/nn_module.hpp>

using namespace seqtrain;

#ifdef MISTAKE
struct Words {
#else
struct Words : torch::nn::Module {
#endif
  at::Tensor forward(const tensor::Batch& batch) {
    return batch.input_ids;
  }
};

model::NnModule model{std::make_shared<Words>()};
