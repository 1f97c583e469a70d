// error: the loss's operator()(logits, batch) must be const
#include <ATen/core/Tensor.h>

#include <seqtrain/model/awd_lstm/awd_lstm_classifier.hpp>

using namespace seqtrain;

struct Mean {
  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch&)
#ifndef MISTAKE
      const
#endif
  {
    return logits.mean(1);
  }
};

void use(model::AwdLstmClassifier& classifier) {
  classifier.set_loss(Mean{});
}
