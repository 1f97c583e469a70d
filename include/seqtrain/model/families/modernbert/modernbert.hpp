#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

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

/// Returns the deviation of maps that add to the residual stream.
[[nodiscard]] inline double output_deviation(const ModernBertConfig& config) {
  return config.initializer_range / std::sqrt(2 * static_cast<double>(config.num_hidden_layers));
}

/// Makes attention and a gated feed-forward network (Shazeer 2020). Each reads what a norm makes of
/// the residual; the norm of the layer's result is still to be set.
[[nodiscard]] inline LayerParts modernbert_layer(const Scope& scope, const ModernBertConfig& config,
                                                 bool is_local) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const auto begin = [&](std::string_view name, double deviation) {
    return cut(scope / name, config, deviation);
  };
  LayerTraits traits{.activation = activation_kind(config.hidden_act),
                     .heads = static_cast<std::size_t>(config.num_attention_heads),
                     .pre_norm = true,
                     .gated = true,
                     .rotary_base = is_local ? config.local_rope_theta : config.global_rope_theta};
  if (is_local) traits.reach = static_cast<std::size_t>(config.local_attention / 2);
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
    const Kind local = kind(batch, config_.local_rope_theta, window_of(batch));
    const Kind global = kind(batch, config_.global_rope_theta, mask_of(batch));
    const at::Tensor embedded = embed(batch, dropout);
    Hidden hidden{embedded, embedded};
    for (std::size_t i = 0; i < layers_.layers.size(); ++i) {
      const auto& [rotary, mask] = config_.is_local[i] ? local : global;
      hidden = compute(layers_.layers[i], layers_.dropout, hidden, mask, &rotary, dropout);
    }
    return pooled(hidden.normal, batch, config_.mean_pooling);
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
  /// The inputs that layers of one kind share.
  struct Kind {
    Rotary rotary;
    AttentionMask mask;
  };

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

  [[nodiscard]] Kind kind(const tensor::Batch& batch, double base, AttentionMask mask) const {
    const std::int64_t size = config_.hidden_size / config_.num_attention_heads;
    return {Rotary{tensor::positions(batch), size, base}, std::move(mask)};
  }

  /// Returns a mask that leaves out padding and keys that are farther away than half a window.
  /// Queries that are padding see padding too, because a query without any key gives NaN.
  [[nodiscard]] AttentionMask window_of(const tensor::Batch& batch) const {
    const std::int64_t width = batch.input_ids.size(1);
    const std::int64_t half = config_.local_attention / 2;
    if (width - 1 <= half) return mask_of(batch);
    const at::Tensor place = at::arange(width, batch.input_ids.options());
    at::Tensor near = place.unsqueeze(0).sub(place.unsqueeze(1)).abs().le(half);
    near = near.unsqueeze(0).unsqueeze(0);
    if (!batch.padded) return {.keys = near};
    const at::Tensor is_token = tensor::attention_mask(batch);
    const at::Tensor is_padding = is_token.transpose(-1, -2).logical_not();
    return {.keys = near.logical_and(is_token.logical_or(is_padding))};
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
