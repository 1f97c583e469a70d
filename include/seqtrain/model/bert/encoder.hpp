#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// A linear map with dropout, a residual connection and layer normalization.
class ResidualOutput {
 public:
  ResidualOutput(const Scope& scope, std::int64_t in, const weights::ModelConfig& config)
      : dense_{scope / "dense", in, config.hidden_size},
        norm_{scope / "LayerNorm", config.hidden_size, config.layer_norm_eps},
        dropout_{config.hidden_dropout_prob} {}

  at::Tensor operator()(const at::Tensor& x, const at::Tensor& residual, Dropout& dropout) const {
    return norm_(dropout(dense_(x), dropout_).add(residual));
  }

 private:
  Linear dense_;
  LayerNorm norm_;
  double dropout_;
};

/// Attention, then a feed-forward network, each with its residual.
class EncoderLayer {
 public:
  EncoderLayer(const Scope& scope, const weights::ModelConfig& config)
      : attention_{scope / "attention.self", config},
        attention_output_{scope / "attention.output", config.hidden_size, config},
        intermediate_{scope / "intermediate.dense", config.hidden_size, config.intermediate_size},
        output_{scope / "output", config.intermediate_size, config},
        activation_{activation(config.hidden_act)} {}

  /// [rows, width, hidden] → the same
  at::Tensor operator()(const at::Tensor& x, const AttentionMask& mask, Dropout& dropout) const {
    const at::Tensor attended = attention_output_(attention_(x, mask, dropout), x, dropout);
    return output_(activation_(intermediate_(attended)), attended, dropout);
  }

 private:
  SelfAttention attention_;
  ResidualOutput attention_output_;
  Linear intermediate_;
  ResidualOutput output_;
  Activation activation_;
};

/// Ids → hidden states: embeddings and a stack of layers. `Embeddings` is the family's rule.
template <class Embeddings>
class Encoder {
 public:
  Encoder(const Scope& scope, const weights::ModelConfig& config)
      : embeddings_{scope / "embeddings", config} {
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      layers_.emplace_back(scope / "encoder.layer" / std::to_string(i), config);
    }
  }

  /// [rows, width, hidden]
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const AttentionMask mask =
        batch.padded ? AttentionMask{tensor::attention_mask(batch)} : AttentionMask{};
    at::Tensor hidden = embeddings_(batch, dropout);
    for (const auto& layer : layers_) hidden = layer(hidden, mask, dropout);
    return hidden;
  }

 private:
  Embeddings embeddings_;
  std::vector<EncoderLayer> layers_;
};

}  // namespace seqtrain::model
