#pragma once

#include <ATen/core/Tensor.h>

#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// DistilBERT's head: two linear maps with ReLU and dropout between them.
class DistilBertHead {
 public:
  DistilBertHead(const Scope& root, const weights::ModelConfig& config)
      : pre_classifier_{root / "pre_classifier", config.hidden_size, config.hidden_size},
        classifier_{root / "classifier", config.hidden_size, config.num_labels()},
        dropout_{config.classifier_dropout_prob()} {}

  /// Returns logits [rows, labels] for the hidden states of first tokens [rows, hidden].
  at::Tensor operator()(const at::Tensor& first, Dropout& dropout) const {
    return classifier_(dropout(pre_classifier_(first).relu(), dropout_));
  }

 private:
  Linear pre_classifier_, classifier_;
  double dropout_;
};

}  // namespace seqtrain::model
