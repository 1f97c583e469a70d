// error: the loss is not called as loss(const at::Tensor& logits, const tensor::Batch& batch)
#include <ATen/core/Tensor.h>

#include <seqtrain/model/any_classifier.hpp>

using namespace seqtrain;

struct Mean {
#ifdef MISTAKE
  at::Tensor operator()(const at::Tensor& logits, const at::Tensor&) const {
#else
  at::Tensor operator()(const at::Tensor& logits, const tensor::Batch&) const {
#endif
      return logits.mean(1);
}
}
;

void use(model::AnyClassifier& classifier) {
  classifier.set_loss(Mean{});
}
