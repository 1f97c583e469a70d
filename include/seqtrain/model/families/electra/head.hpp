#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu.h>

#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// ELECTRA's head: two linear maps with GELU between them and dropout before each.
class ElectraHead {
 public:
  ElectraHead(const Scope& root, const weights::ModelConfig& config)
      : dense_{root / "classifier.dense", config.hidden_size, config.hidden_size},
        out_proj_{root / "classifier.out_proj", config.hidden_size, config.num_labels()},
        dropout_{config.classifier_dropout_prob()} {}

  /// Returns logits [rows, labels] for the hidden states of first tokens [rows, hidden].
  at::Tensor operator()(const at::Tensor& first, Dropout& dropout) const {
    const at::Tensor hidden = at::gelu(dense_(dropout(first, dropout_)));
    return out_proj_(dropout(hidden, dropout_));
  }

 private:
  Linear dense_, out_proj_;
  double dropout_;
};

}  // namespace seqtrain::model
