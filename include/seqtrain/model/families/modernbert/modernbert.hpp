#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/modernbert/config.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Returns a place whose weights begin as in transformers: normal with that deviation, and cut.
[[nodiscard]] inline Scope cut(const Scope& scope, const ModernBertConfig& config,
                               double deviation) {
  return scope.initialised({deviation, config.initializer_cutoff_factor});
}

/// Makes attention and a gated feed-forward network (Shazeer 2020). Each reads what a norm makes of
/// the residual; the norm of the layer's result is still to be set.
[[nodiscard]] inline LayerParts modernbert_layer(const Scope& scope, const ModernBertConfig& config,
                                                 bool is_local) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const auto begin = [&](std::string_view name, double deviation) {
    return cut(scope / name, config, deviation);
  };
  LayerTraits traits{
      .activation = activation_kind(config.hidden_act),
      .heads = static_cast<std::size_t>(config.num_attention_heads),
      .pre_norm = true,
      .gated = true,
      .rope = {.base = is_local ? config.local_rope_theta : config.global_rope_theta}};
  if (is_local) traits.sliding_window = static_cast<std::size_t>(config.local_attention / 2);
  const Linear qkv{begin("attn.Wqkv", config.initializer_range), hidden, 3 * hidden,
                   config.attention_bias};
  const Linear attention_output{begin("attn.Wo", output_deviation(config)), hidden, hidden,
                                config.attention_bias};
  const LayerNorm norm{scope / "mlp_norm", hidden, config.layer_norm_eps, config.norm_bias};
  return {traits,
          {qkv},
          attention_output,
          norm,
          {begin("mlp.Wi", config.initializer_range), hidden, 2 * inner, config.mlp_bias},
          {begin("mlp.Wo", output_deviation(config)), inner, hidden, config.mlp_bias},
          norm};
}

/// Computes the hidden states of first tokens, or their means over all tokens, from ids.
class ModernBertEncoder {
 public:
  ModernBertEncoder(const Scope& scope, const ModernBertConfig& config)
      : words_{scope / "embeddings.tok_embeddings", config.vocab_size, config.hidden_size,
               config.pad_token_id},
        embedding_norm_{scope / "embeddings.norm", config.hidden_size, config.layer_norm_eps,
                        config.norm_bias},
        layers_{layers(scope, config)},
        config_{config} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    return pooled(compute(layers_, embed(batch, dropout), batch, dropout), batch,
                  config_.mean_pooling);
  }

  [[nodiscard]] at::Tensor embed(const tensor::Batch& batch, Dropout& dropout) const {
    return dropout(embedding_norm_(words_(batch.input_ids)), config_.embedding_dropout);
  }

  [[nodiscard]] const EncoderLayers& layers() const { return layers_; }

  /// Returns the encoder for the hand-written backend.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    return cpu::encoder<T>({.word = cpu::table(words_), .norm = cpu::norm(embedding_norm_)},
                           layers());
  }

 private:
  /// Makes the layers. A norm before attention is that of the layer before; the first layer's
  /// attention has none, because embeddings end with one.
  static EncoderLayers layers(const Scope& scope, const ModernBertConfig& config) {
    const double attention = config.attention_probs_dropout_prob;
    EncoderLayers result{.layers = {},
                         .order = {},
                         .dropout = {.embeddings = config.embedding_dropout,
                                     .attention = attention,
                                     .attention_output = attention,
                                     .gates = config.hidden_dropout_prob},
                         .mean_pooling = config.mean_pooling};
    const auto end_with = [&](const Scope& norm) {
      result.layers.back().norm2 = {norm, config.hidden_size, config.layer_norm_eps,
                                    config.norm_bias};
    };
    for (std::size_t i = 0; i < config.is_local.size(); ++i) {
      const Scope layer = (scope / "layers").layer(static_cast<std::int64_t>(i));
      if (i > 0) end_with(layer / "attn_norm");
      result.layers.push_back(modernbert_layer(layer, config, config.is_local[i]));
    }
    end_with(scope.after_layers() / "final_norm");
    return result;
  }

  WordEmbedding words_;
  LayerNorm embedding_norm_;
  EncoderLayers layers_;
  ModernBertConfig config_;
};

/// ModernBERT's head: a linear layer with activation and norm, which masked language models have as
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
