#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/bert/embeddings.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/encoder_layer.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Computes the hidden states of first tokens from ids, by embeddings and a stack of layers.
/// `Family` has the members `positions`, `layers`, the scope of the layers, and `layer_form`.
template <class Family>
class BertEncoder {
 public:
  BertEncoder(const Scope& scope, const weights::ModelConfig& config)
      : embeddings_{scope / "embeddings", config, config.hidden_size, Family::positions},
        layers_{scope / Family::layers, config, Family::layer_form} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    return layers_(embeddings_(batch, dropout), mask_of(batch), dropout).select(1, 0);
  }

  /// Returns the encoder for the hand-written passes.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    return layers_.template cpu_parts<T>(embeddings_.cpu_part());
  }

 private:
  BertEmbeddings embeddings_;
  LayerStack layers_;
};

}  // namespace seqtrain::model
