#pragma once

#include <ATen/core/Tensor.h>

#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// ALBERT's head: the pooler, which checkpoints store with the encoder, and one linear map.
class AlbertHead {
 public:
  AlbertHead(const Scope& root, const weights::ModelConfig& config)
      : pooler_{root / "albert.pooler", config.hidden_size, config.hidden_size},
        classifier_{root / "classifier", config.hidden_size, config.num_labels()},
        dropout_{config.classifier_dropout_prob()} {}

  /// Returns logits [rows, labels] for the hidden states of first tokens [rows, hidden].
  at::Tensor operator()(const at::Tensor& first, Dropout& dropout) const {
    return classifier_(dropout(pooler_(first).tanh(), dropout_));
  }

 private:
  Linear pooler_, classifier_;
  double dropout_;
};

}  // namespace seqtrain::model
