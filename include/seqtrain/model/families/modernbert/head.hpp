#pragma once

#include <cmath>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/families/modernbert/config.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>

namespace seqtrain::model {

/// ModernBERT's head: a linear map with activation and norm, which masked language models have as
/// well, and one to logits.
class ModernBertHead {
 public:
  ModernBertHead(const Scope& root, const ModernBertConfig& config)
      : dense_{cut(root / "head.dense", config,
                   config.initializer_range /
                       std::sqrt(2 * static_cast<double>(config.num_hidden_layers))),
               config.hidden_size, config.hidden_size, config.classifier_bias},
        norm_{root / "head.norm", config.hidden_size, config.layer_norm_eps, config.norm_bias},
        classifier_{cut(root / "classifier", config,
                        1 / std::sqrt(static_cast<double>(config.hidden_size))),
                    config.hidden_size, config.num_labels()},
        activation_{activation(config.classifier_activation)},
        dropout_{config.classifier_dropout_prob()} {}

  /// Returns logits [rows, labels] for pooled hidden states [rows, hidden].
  at::Tensor operator()(const at::Tensor& pooled, Dropout& dropout) const {
    return classifier_(dropout(norm_(activation_(dense_(pooled))), dropout_));
  }

 private:
  static Scope cut(const Scope& scope, const ModernBertConfig& config, double deviation) {
    return scope.initialised({deviation, config.initializer_cutoff_factor});
  }

  Linear dense_;
  LayerNorm norm_;
  Linear classifier_;
  Activation activation_;
  double dropout_;
};

}  // namespace seqtrain::model
