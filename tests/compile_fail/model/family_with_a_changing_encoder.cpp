// error: the family's Encoder has no operator()(const tensor::Batch&, Dropout&) const that returns
// an at::Tensor
#include <cstdint>

#include <seqtrain/model/classifier.hpp>
#include <seqtrain/model/families/bert/bert.hpp>

using namespace seqtrain;

struct Encoder {
  Encoder(const model::Scope&, const weights::ModelConfig&) {}
  at::Tensor operator()(const tensor::Batch& batch, model::Dropout&)
#ifndef MISTAKE
      const
#endif
  {
    return batch.input_ids;
  }
};

struct Family : model::Bert {
  using Encoder = ::Encoder;
};

void use(const weights::WeightsFolder& checkpoint) {
  model::Classifier<Family> classifier{checkpoint};
}
