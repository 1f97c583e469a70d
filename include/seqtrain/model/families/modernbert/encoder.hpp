#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pow.h>

#include <seqtrain/kernels/rotary.hpp>
#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/cpu/encoder_parts.hpp>
#include <seqtrain/model/cpu/layer.hpp>
#include <seqtrain/model/families/attention.hpp>
#include <seqtrain/model/families/modernbert/config.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/model/nn/sentence_head.hpp>
#include <seqtrain/tensor/batch.hpp>

namespace seqtrain::model {

/// Rotary positions (Su et al. 2021): a token's queries and keys are turned by angles that grow
/// with its position, so that scores depend on distances.
class Rotary {
 public:
  /// Makes the angles of positions below `width` for heads of an even size.
  Rotary(std::int64_t width, std::int64_t size, double base, c10::Device device) {
    const auto options = at::TensorOptions{}.dtype(at::kFloat).device(device);
    const at::Tensor steps = at::arange(0, size, 2, options).div(static_cast<double>(size));
    const at::Tensor angles =
        at::arange(width, options).unsqueeze(1).mul(at::pow(base, steps).reciprocal());
    const at::Tensor both = at::cat({angles, angles}, -1);
    cos_ = both.cos();
    sin_ = both.sin();
  }

  /// Turns x [rows, heads, width, size]. The result has x's type and is computed in fp32.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const {
    const at::Tensor wide = x.to(at::kFloat);
    const auto halves = wide.chunk(2, -1);
    const at::Tensor turned = at::cat({halves[1].neg(), halves[0]}, -1);
    return wide.mul(cos_).add(turned.mul(sin_)).to(x.scalar_type());
  }

 private:
  at::Tensor cos_, sin_;  ///< [width, size]
};

/// Returns a place whose weights begin as in transformers: normal with that deviation, and cut.
[[nodiscard]] inline Scope cut(const Scope& scope, const ModernBertConfig& config,
                               double deviation) {
  return scope.initialised({deviation, config.initializer_cutoff_factor});
}

/// Returns the deviation of maps that add to the residual stream.
[[nodiscard]] inline double output_deviation(const ModernBertConfig& config) {
  return config.initializer_range / std::sqrt(2 * static_cast<double>(config.num_hidden_layers));
}

/// Attention and a gated feed-forward network (Shazeer 2020), each with the norm before it and a
/// residual connection. The first layer's attention has no norm: embeddings end with one.
class ModernBertLayer {
 public:
  ModernBertLayer(const Scope& scope, const ModernBertConfig& config, bool first)
      : attention_norm_{norm(scope, config, first)},
        qkv_{cut(scope / "attn.Wqkv", config, config.initializer_range), config.hidden_size,
             3 * config.hidden_size, config.attention_bias},
        attention_output_{cut(scope / "attn.Wo", config, output_deviation(config)),
                          config.hidden_size, config.hidden_size, config.attention_bias},
        mlp_norm_{scope / "mlp_norm", config.hidden_size, config.layer_norm_eps, config.norm_bias},
        input_and_gate_{cut(scope / "mlp.Wi", config, config.initializer_range), config.hidden_size,
                        2 * config.intermediate_size, config.mlp_bias},
        mlp_output_{cut(scope / "mlp.Wo", config, output_deviation(config)),
                    config.intermediate_size, config.hidden_size, config.mlp_bias},
        activation_{activation(config.hidden_act)},
        activation_kind_{activation_kind(config.hidden_act)},
        heads_{config.num_attention_heads},
        attention_dropout_{config.attention_probs_dropout_prob},
        mlp_dropout_{config.hidden_dropout_prob} {}

  /// Returns hidden states [rows, width, hidden] for those of the layer before.
  at::Tensor operator()(const at::Tensor& x, const Rotary& rotary, const AttentionMask& mask,
                        Dropout& dropout) const {
    const at::Tensor attended =
        x.add(attention(attention_norm_ ? (*attention_norm_)(x) : x, rotary, mask, dropout));
    const auto parts = input_and_gate_(mlp_norm_(attended)).chunk(2, -1);
    const at::Tensor gated = dropout(activation_(parts[0]).mul(parts[1]), mlp_dropout_);
    return attended.add(mlp_output_(gated));
  }

  /// Returns the norm before attention, if there is one.
  [[nodiscard]] const std::optional<LayerNorm>& attention_norm() const { return attention_norm_; }

  /// Returns the layer for the hand-written passes. `next_norm` is the norm of its result.
  template <class T>
  [[nodiscard]] cpu::Layer<T> cpu_part(const LayerNorm& next_norm) const {
    return {.qkv = cpu::linear<T>({qkv_}),
            .attention_output = cpu::linear<T>({attention_output_}),
            .intermediate = cpu::linear<T>({input_and_gate_}),
            .output = cpu::linear<T>({mlp_output_}),
            .norm1 = cpu::norm(mlp_norm_),
            .norm2 = cpu::norm(next_norm),
            .activation = activation_kind_,
            .heads = static_cast<std::size_t>(heads_),
            .norms_first = true,
            .gated = true};
  }

 private:
  static std::optional<LayerNorm> norm(const Scope& scope, const ModernBertConfig& config,
                                       bool first) {
    if (first) return {};
    return LayerNorm{scope / "attn_norm", config.hidden_size, config.layer_norm_eps,
                     config.norm_bias};
  }

  at::Tensor attention(const at::Tensor& x, const Rotary& rotary, const AttentionMask& mask,
                       Dropout& dropout) const {
    const std::int64_t size = x.size(2) / heads_;
    const auto parts = qkv_(x).view({x.size(0), x.size(1), 3, heads_, size}).unbind(2);
    const auto head_first = [&](std::size_t part) { return parts[part].transpose(1, 2); };
    const at::Tensor context = attend(rotary(head_first(0)), rotary(head_first(1)), head_first(2),
                                      mask, attention_dropout_, dropout);
    return dropout(attention_output_(context.transpose(1, 2).reshape(x.sizes())),
                   attention_dropout_);
  }

  std::optional<LayerNorm> attention_norm_;
  Linear qkv_, attention_output_;
  LayerNorm mlp_norm_;
  Linear input_and_gate_, mlp_output_;
  Activation activation_;
  ActivationKind activation_kind_;
  std::int64_t heads_;
  double attention_dropout_;
  double mlp_dropout_;
};

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
    return pooled(hidden, batch, config_.mean_pooling);
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

  Embedding words_;
  LayerNorm embedding_norm_;
  std::vector<ModernBertLayer> layers_;
  LayerNorm final_norm_;
  ModernBertConfig config_;
};

}  // namespace seqtrain::model
