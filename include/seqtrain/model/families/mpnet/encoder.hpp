#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/mpnet/relative_positions.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/encoder_layer.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Computes the hidden states of first tokens from ids.
class MpnetEncoder {
 public:
  MpnetEncoder(const Scope& scope, const weights::ModelConfig& config)
      : embeddings_{scope / "embeddings", config, config.hidden_size, Positions::after_padding},
        layers_{scope / "encoder.layer", config, form},
        relative_{scope / "encoder.relative_attention_bias", config.num_attention_heads} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    AttentionMask mask = mask_of(batch);
    mask.bias = relative_(batch.input_ids.size(1));
    return layers_(embeddings_(batch, dropout), mask, dropout).select(1, 0);
  }

  /// Returns the encoder for the hand-written passes.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    auto parts = layers_.template cpu_parts<T>(embeddings_.cpu_part());
    if (parts) parts->distances = relative_.cpu_part();
    return parts;
  }

 private:
  static constexpr LayerForm form{.query = "attention.attn.q",
                                  .key = "attention.attn.k",
                                  .value = "attention.attn.v",
                                  .attention_output = "attention.attn.o",
                                  .attention_norm = "attention.LayerNorm"};

  BertEmbeddings embeddings_;
  LayerStack layers_;
  RelativePositions relative_;
};

}  // namespace seqtrain::model
