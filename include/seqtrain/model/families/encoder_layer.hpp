#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <seqtrain/model/cpu/build.hpp>
#include <seqtrain/model/families/attention.hpp>
#include <seqtrain/model/families/layer_form.hpp>
#include <seqtrain/model/nn/dropout.hpp>
#include <seqtrain/model/nn/layers.hpp>
#include <seqtrain/model/packed/map.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// A layer of an encoder: self-attention with several heads (Vaswani et al. 2017), in which every
/// token attends to every token of its row, then a feed-forward network. Each is followed by
/// dropout, a residual connection and layer normalization.
class EncoderLayer {
 public:
  EncoderLayer(const Scope& scope, const weights::ModelConfig& config, const LayerForm& form = {})
      : query_{scope / form.query, config.hidden_size, config.hidden_size},
        key_{scope / form.key, config.hidden_size, config.hidden_size},
        value_{scope / form.value, config.hidden_size, config.hidden_size},
        heads_{config.num_attention_heads},
        attention_dropout_{config.attention_probs_dropout_prob},
        after_attention_{scope, config, form} {}

  /// Returns hidden states [rows, width, hidden] for those of the layer before.
  at::Tensor operator()(const at::Tensor& x, const AttentionMask& mask, Dropout& dropout) const {
    const at::Tensor context =
        attend(split_heads(query_(x), heads_), split_heads(key_(x), heads_),
               split_heads(value_(x), heads_), mask, attention_dropout_, dropout);
    return after_attention_(context, x, dropout);
  }

  /// Returns the layer for the hand-written passes, whose products are in T.
  template <class T>
  [[nodiscard]] cpu::Layer<T> cpu_part() const {
    return after_attention_.cpu_part(cpu::linear<T>({query_, key_, value_}));
  }

  [[nodiscard]] packed::LayerParts packed_part() const {
    return after_attention_.packed_part({query_, key_, value_});
  }

 private:
  Linear query_, key_, value_;
  std::int64_t heads_;
  double attention_dropout_;
  AfterAttention after_attention_;
};

/// Several layers, each of which takes the output of the one before it.
class LayerStack {
 public:
  /// The names of layer i's parameters begin with the scope and i.
  LayerStack(const Scope& scope, const weights::ModelConfig& config, const LayerForm& form = {})
      : LayerStack{config, form} {
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      layers_.emplace_back(scope / std::to_string(i), config, form);
    }
  }

  /// Makes a layer in each scope. `order` has the index of a layer for each step; a layer may occur
  /// several times.
  LayerStack(const std::vector<Scope>& scopes, std::vector<std::size_t> order,
             const weights::ModelConfig& config, const LayerForm& form)
      : LayerStack{config, form} {
    for (const Scope& scope : scopes) layers_.emplace_back(scope, config, form);
    order_ = std::move(order);
  }

  /// Returns the hidden states after all layers, [rows, width, hidden] as those that go in.
  at::Tensor operator()(at::Tensor hidden, const AttentionMask& mask, Dropout& dropout) const {
    if (order_.empty()) {
      for (const auto& layer : layers_) hidden = layer(hidden, mask, dropout);
    }
    for (const std::size_t i : order_) hidden = layers_[i](hidden, mask, dropout);
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
    parts.order = order_;
    return parts;
  }

  /// Returns the layers for packed rows, or nothing if a layer occurs several times.
  [[nodiscard]] std::vector<packed::LayerParts> packed_parts() const {
    std::vector<packed::LayerParts> parts;
    if (!order_.empty()) return parts;
    for (const auto& layer : layers_) parts.push_back(layer.packed_part());
    return parts;
  }

 private:
  LayerStack(const weights::ModelConfig& config, const LayerForm& form)
      : dropout_{form.dropout(config)}, has_kernels_{cpu::supports(config)} {}

  std::vector<EncoderLayer> layers_;
  std::vector<std::size_t> order_;  ///< a layer's index for each step; empty if each has one
  cpu::DropoutRates dropout_;
  bool has_kernels_;
};

}  // namespace seqtrain::model
