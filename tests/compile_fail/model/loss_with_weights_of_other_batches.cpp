// error: the loss's weights(const tensor::Batch&) must be const and return an at::Tensor
#include <ATen/core/Tensor.h>

#include <seqtrain/model/loss/loss.hpp>

using namespace seqtrain;

#ifdef MISTAKE
using Weighed = data::Batch;
#else
using Weighed = tensor::Batch;
#endif

struct Weighted {
  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch&) const {
    return logits.mean(1);
  }
  at::Tensor weights(const Weighed&) const { return {}; }
};

const model::AnyLoss loss = Weighted{};
