#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/families/modernbert/config.hpp>
#include <seqtrain/model/families/modernbert/encoder.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model {

/// ModernBERT's head: a linear map with activation and norm, which masked language models have as
/// well, and one to logits.
class ModernBertHead {
 public:
  ModernBertHead(const Scope& root, const ModernBertConfig& config)
      : dense_{cut(root / "head.dense", config, output_deviation(config)), config.hidden_size,
               config.hidden_size, config.classifier_bias},
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
  Linear dense_;
  LayerNorm norm_;
  Linear classifier_;
  Activation activation_;
  double dropout_;
};

/// ModernBERT (Warner et al. 2024): rotary positions, norms before attention and feed-forward
/// networks, gates, and by default a window on two layers of three.
struct ModernBert {
  static constexpr std::string_view model_type = "modernbert";
  static constexpr std::string_view prefix = "model";
  static constexpr std::string_view classifier = "ModernBertForSequenceClassification";
  using Config = ModernBertConfig;
  using Encoder = ModernBertEncoder;
  using Head = ModernBertHead;

  static constexpr auto read_config = read_modernbert_config;

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
