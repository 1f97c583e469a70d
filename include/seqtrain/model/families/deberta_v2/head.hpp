#pragma once

#include <ATen/core/Tensor.h>

#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>

namespace seqtrain::model {

/// DeBERTa's head: a pooler with an activation, and a linear map.
class DebertaV2Head {
 public:
  DebertaV2Head(const Scope& root, const DebertaV2Config& config)
      : pooler_{root / "pooler.dense", config.hidden_size, config.hidden_size},
        classifier_{root / "classifier", config.hidden_size, config.num_labels()},
        activation_{activation(config.pooler_hidden_act)},
        pooler_dropout_{config.pooler_dropout},
        dropout_{config.classifier_dropout_prob()} {}

  /// Returns logits [rows, labels] for the hidden states of first tokens [rows, hidden].
  at::Tensor operator()(const at::Tensor& first, Dropout& dropout) const {
    const at::Tensor pooled = activation_(pooler_(dropout(first, pooler_dropout_)));
    return classifier_(dropout(pooled, dropout_));
  }

 private:
  Linear pooler_, classifier_;
  Activation activation_;
  double pooler_dropout_;
  double dropout_;
};

}  // namespace seqtrain::model
