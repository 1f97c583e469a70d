#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/encoder_layer.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Computes the hidden states of first tokens from ids, by embeddings and a stack of layers.
/// `Embeddings` is the family's rule for the input.
template <class Embeddings>
class BertEncoder {
 public:
  BertEncoder(const Scope& scope, const weights::ModelConfig& config)
      : embeddings_{scope / "embeddings", config}, layers_{scope / "encoder.layer", config} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    return layers_(embed(batch, dropout), mask_of(batch), dropout).select(1, 0);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout& dropout) const {
    return embeddings_(batch, dropout);
  }
  [[nodiscard]] const LayerStack& layers() const { return layers_; }

  /// Returns the encoder for the hand-written passes.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    return layers_.template cpu_parts<T>(embeddings_.cpu_part());
  }

 private:
  Embeddings embeddings_;
  LayerStack layers_;
};

}  // namespace seqtrain::model
