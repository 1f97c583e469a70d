#pragma once

#include <optional>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/encoder_layer.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Computes the hidden states of first tokens from ids.
class DistilBertEncoder {
 public:
  DistilBertEncoder(const Scope& scope, const weights::ModelConfig& config)
      : word_{scope / "embeddings.word_embeddings", config.vocab_size, config.hidden_size,
              config.pad_token_id},
        position_{scope / "embeddings.position_embeddings", config.max_position_embeddings,
                  config.hidden_size},
        norm_{scope / "embeddings.LayerNorm", config.hidden_size, config.layer_norm_eps},
        dropout_{config.hidden_dropout_prob},
        layers_{scope / "transformer.layer", config, form} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    return layers_(embed(batch, dropout), mask_of(batch), dropout).select(1, 0);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout& dropout) const {
    const at::Tensor sum = word_(batch.input_ids).add(position_(tensor::positions(batch)));
    return dropout(norm_(sum), dropout_);
  }
  [[nodiscard]] const LayerStack& layers() const { return layers_; }

  /// Returns the encoder for the hand-written passes.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    return layers_.template cpu_parts<T>({.word = cpu::table(word_),
                                          .position = cpu::table(position_),
                                          .type = {},
                                          .norm = cpu::norm(norm_),
                                          .positions_after_padding = false});
  }

 private:
  static constexpr LayerForm form{.query = "attention.q_lin",
                                  .key = "attention.k_lin",
                                  .value = "attention.v_lin",
                                  .attention_output = "attention.out_lin",
                                  .attention_norm = "sa_layer_norm",
                                  .intermediate = "ffn.lin1",
                                  .output = "ffn.lin2",
                                  .output_norm = "output_layer_norm",
                                  .drops_attention_output = false};

  Embedding word_, position_;
  LayerNorm norm_;
  double dropout_;
  LayerStack layers_;
};

}  // namespace seqtrain::model
