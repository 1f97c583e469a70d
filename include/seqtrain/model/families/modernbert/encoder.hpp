#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

#include <seqtrain/kernels/rotary.hpp>
#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/families/modernbert/config.hpp>
#include <seqtrain/model/families/modernbert/layer.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Computes the hidden states of first tokens, or their means over all tokens, from ids.
class ModernBertEncoder {
 public:
  ModernBertEncoder(const Scope& scope, const ModernBertConfig& config)
      : words_{scope / "embeddings.tok_embeddings", config.vocab_size, config.hidden_size,
               config.pad_token_id},
        embedding_norm_{scope / "embeddings.norm", config.hidden_size, config.layer_norm_eps,
                        config.norm_bias},
        layers_{layers(scope, config)},
        final_norm_{scope / "final_norm", config.hidden_size, config.layer_norm_eps,
                    config.norm_bias},
        config_{config} {}

  /// Returns [rows, hidden].
  at::Tensor operator()(const tensor::Batch& batch, Dropout& dropout) const {
    const Kind local = kind(batch, config_.local_rope_theta, window_of(batch));
    const Kind global = kind(batch, config_.global_rope_theta, mask_of(batch));
    at::Tensor hidden =
        dropout(embedding_norm_(words_(batch.input_ids)), config_.embedding_dropout);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const auto& [rotary, mask] = config_.is_local[i] ? local : global;
      hidden = layers_[i](hidden, rotary, mask, dropout);
    }
    hidden = final_norm_(hidden);
    return config_.mean_pooling ? mean(hidden, batch) : hidden.select(1, 0);
  }

  /// Returns the encoder for the hand-written passes.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts() const {
    if (!cpu::supports(config_)) return {};
    const double attention = config_.attention_probs_dropout_prob;
    cpu::EncoderParts<T> parts{
        .embeddings = {.word = cpu::table(words_), .norm = cpu::norm(embedding_norm_)},
        .layers = {},
        .dropout = {.embeddings = config_.embedding_dropout,
                    .attention = attention,
                    .attention_output = attention,
                    .gates = config_.hidden_dropout_prob},
        .mean_pooling = config_.mean_pooling};
    const auto angles = [&](double base) {
      const std::int64_t size = config_.hidden_size / config_.num_attention_heads;
      return std::make_shared<kernels::RotaryAngles>(base, static_cast<std::size_t>(size));
    };
    const auto local = angles(config_.local_rope_theta);
    const auto global = angles(config_.global_rope_theta);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const bool is_last = i + 1 == layers_.size();
      const LayerNorm& next = is_last ? final_norm_ : *layers_[i + 1].attention_norm();
      auto& layer = parts.layers.emplace_back(layers_[i].template cpu_part<T>(next));
      layer.rotary = config_.is_local[i] ? local : global;
      if (config_.is_local[i]) layer.reach = static_cast<std::size_t>(config_.local_attention / 2);
    }
    return parts;
  }

 private:
  /// The inputs that layers of one kind share.
  struct Kind {
    Rotary rotary;
    AttentionMask mask;
  };

  static std::vector<ModernBertLayer> layers(const Scope& scope, const ModernBertConfig& config) {
    std::vector<ModernBertLayer> result;
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      result.emplace_back(scope / "layers" / std::to_string(i), config, i == 0);
    }
    return result;
  }

  [[nodiscard]] Kind kind(const tensor::Batch& batch, double base, AttentionMask mask) const {
    const std::int64_t size = config_.hidden_size / config_.num_attention_heads;
    return {Rotary{batch.input_ids.size(1), size, base, batch.input_ids.device()}, std::move(mask)};
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

  static at::Tensor mean(const at::Tensor& hidden, const tensor::Batch& batch) {
    const at::Tensor is_token = tensor::attention_mask(batch).view(batch.input_ids.sizes());
    return hidden.mul(is_token.unsqueeze(-1)).sum(1).div(batch.lengths.unsqueeze(1));
  }

  Embedding words_;
  LayerNorm embedding_norm_;
  std::vector<ModernBertLayer> layers_;
  LayerNorm final_norm_;
  ModernBertConfig config_;
};

}  // namespace seqtrain::model
