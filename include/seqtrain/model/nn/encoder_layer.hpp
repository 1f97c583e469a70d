#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/attention.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/nn/parameters.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The names of a layer's parts in the state_dict, and rules in which families differ. The defaults
/// are for BERT.
struct LayerForm {
  std::string_view query = "attention.self.query";
  std::string_view key = "attention.self.key";
  std::string_view value = "attention.self.value";
  std::string_view attention_output = "attention.output.dense";
  std::string_view attention_norm = "attention.output.LayerNorm";
  std::string_view intermediate = "intermediate.dense";
  std::string_view output = "output.dense";
  std::string_view output_norm = "output.LayerNorm";
  bool drops_attention_output = true;  ///< dropout also applies to the output of attention
  bool drops_output = true;  ///< dropout also applies to the feed-forward network's output

  /// Returns the probabilities of dropout in an encoder of such layers.
  [[nodiscard]] cpu::DropoutRates dropout(const weights::ModelConfig& config) const {
    const double hidden = config.hidden_dropout_prob;
    return {.embeddings = hidden,
            .attention = config.attention_probs_dropout_prob,
            .attention_output = drops_attention_output ? hidden : 0,
            .output = drops_output ? hidden : 0};
  }
};

/// A layer of an encoder: self-attention with several heads (Vaswani et al. 2017), in which every
/// token attends to every token of its row, then a feed-forward network. Each is followed by
/// dropout, a residual connection and layer normalization.
class EncoderLayer {
 public:
  EncoderLayer(const Scope& scope, const weights::ModelConfig& config, const LayerForm& form = {})
      : query_{scope / form.query, config.hidden_size, config.hidden_size},
        key_{scope / form.key, config.hidden_size, config.hidden_size},
        value_{scope / form.value, config.hidden_size, config.hidden_size},
        attention_output_{scope / form.attention_output, config.hidden_size, config.hidden_size},
        attention_norm_{scope / form.attention_norm, config.hidden_size, config.layer_norm_eps},
        intermediate_{scope / form.intermediate, config.hidden_size, config.intermediate_size},
        output_{scope / form.output, config.intermediate_size, config.hidden_size},
        output_norm_{scope / form.output_norm, config.hidden_size, config.layer_norm_eps},
        activation_{activation(config.hidden_act)},
        activation_kind_{cpu::activation_kind(config.hidden_act)},
        heads_{config.num_attention_heads},
        dropout_{form.dropout(config)} {}

  /// Returns hidden states [rows, width, hidden] for those of the layer before.
  at::Tensor operator()(const at::Tensor& x, const AttentionMask& mask, Dropout& dropout) const {
    const at::Tensor context = attend(split_heads(query_(x)), split_heads(key_(x)),
                                      split_heads(value_(x)), mask, dropout_.attention, dropout);
    const at::Tensor attended =
        attention_norm_(dropout(attention_output_(context.transpose(1, 2).reshape(x.sizes())),
                                dropout_.attention_output)
                            .add(x));
    const at::Tensor output = output_(activation_(intermediate_(attended)));
    return output_norm_(dropout(output, dropout_.output).add(attended));
  }

  /// Returns the layer for the hand-written passes, whose products are in T.
  template <class T>
  [[nodiscard]] cpu::Layer<T> cpu_part() const {
    return {.qkv = cpu::linear<T>({query_, key_, value_}),
            .attention_output = cpu::linear<T>({attention_output_}),
            .intermediate = cpu::linear<T>({intermediate_}),
            .output = cpu::linear<T>({output_}),
            .norm1 = cpu::norm(attention_norm_),
            .norm2 = cpu::norm(output_norm_),
            .activation = activation_kind_,
            .heads = static_cast<std::size_t>(heads_)};
  }

 private:
  /// Returns x [rows, width, hidden] as [rows, heads, width, hidden / heads].
  [[nodiscard]] at::Tensor split_heads(const at::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads_, x.size(2) / heads_}).transpose(1, 2);
  }

  Linear query_, key_, value_, attention_output_;
  LayerNorm attention_norm_;
  Linear intermediate_, output_;
  LayerNorm output_norm_;
  Activation activation_;
  cpu::ActivationKind activation_kind_;
  std::int64_t heads_;
  cpu::DropoutRates dropout_;
};

/// Several layers, each of which takes the output of the one before it.
class LayerStack {
 public:
  /// The names of layer i's parameters begin with the scope and i.
  LayerStack(const Scope& scope, const weights::ModelConfig& config, const LayerForm& form = {})
      : dropout_{form.dropout(config)}, has_kernels_{cpu::supports(config)} {
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      layers_.emplace_back(scope / std::to_string(i), config, form);
    }
  }

  /// Returns the hidden states after all layers, [rows, width, hidden] as those that go in.
  at::Tensor operator()(at::Tensor hidden, const AttentionMask& mask, Dropout& dropout) const {
    for (const auto& layer : layers_) hidden = layer(hidden, mask, dropout);
    return hidden;
  }

  /// Returns an encoder of these embeddings and layers for the hand-written passes, or nothing if
  /// there are no kernels for its sizes.
  template <class T>
  [[nodiscard]] std::optional<cpu::EncoderParts<T>> cpu_parts(cpu::Embeddings embeddings) const {
    if (!has_kernels_) return {};
    cpu::EncoderParts<T> parts{
        .embeddings = std::move(embeddings), .layers = {}, .dropout = dropout_};
    for (const auto& layer : layers_) parts.layers.push_back(layer.template cpu_part<T>());
    return parts;
  }

 private:
  std::vector<EncoderLayer> layers_;
  cpu::DropoutRates dropout_;
  bool has_kernels_;
};

}  // namespace seqtrain::model
