// error: the module has no forward(const tensor::Batch&) that returns logits, an at::Tensor
#include <memory>

#include <torch/nn/module.h>

#include <seqtrain/model/nn_module.hpp>

using namespace seqtrain;

struct Words : torch::nn::Module {
#ifdef MISTAKE
  at::Tensor forward(const at::Tensor& ids) {
    return ids;
  }
#else
  at::Tensor forward(const tensor::Batch& batch) {
    return batch.input_ids;
  }
#endif
};

double loss_of(const data::Batch& batch) {
  model::NnModule model{std::make_shared<Words>()};
  return static_cast<double>(model.accumulate(batch, 1));
}
