#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/mpnet/relative_positions.hpp>
#include <seqtrain/model/families/roberta/embeddings.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/encoder_layer.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Computes the hidden states of first tokens from ids.
class MpnetEncoder {
 public:
  MpnetEncoder(const Scope& scope, const weights::ModelConfig& config)
      : word_{scope / "embeddings.word_embeddings", config.vocab_size, config.hidden_size,
              config.pad_token_id},
        position_{scope / "embeddings.position_embeddings", config.max_position_embeddings,
                  config.hidden_size, config.pad_token_id},
        norm_{scope / "embeddings.LayerNorm", config.hidden_size, config.layer_norm_eps},
        dropout_{config.hidden_dropout_prob},
        layers_{scope / "encoder.layer", config, form},
        relative_{scope / "encoder.relative_attention_bias", config.num_attention_heads} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor& ids = batch.input_ids;
    const at::Tensor sum =
        word_(ids).add(position_(positions_after_padding(ids, word_.padding_id)));
    AttentionMask mask = mask_of(batch);
    mask.bias = relative_(ids.size(1));
    return layers_(dropout(norm_(sum), dropout_), mask, dropout).select(1, 0);
  }

  /// Returns the encoder for the hand-written passes.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    auto parts = layers_.template cpu_parts<T>({.word = cpu::table(word_),
                                                .position = cpu::table(position_),
                                                .norm = cpu::norm(norm_),
                                                .positions_after_padding = true});
    if (parts) parts->distances = relative_.cpu_part();
    return parts;
  }

 private:
  static constexpr LayerForm form{.query = "attention.attn.q",
                                  .key = "attention.attn.k",
                                  .value = "attention.attn.v",
                                  .attention_output = "attention.attn.o",
                                  .attention_norm = "attention.LayerNorm"};

  Embedding word_, position_;
  LayerNorm norm_;
  double dropout_;
  LayerStack layers_;
  RelativePositions relative_;
};

}  // namespace seqtrain::model
