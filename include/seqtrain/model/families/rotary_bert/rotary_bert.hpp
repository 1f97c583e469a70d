#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/rotary_bert/config.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model {

/// The members of a family that differs from BERT in rotary positions and gates.
/// `Family::layer(scope, config)` makes a layer.
template <class Family>
struct RotaryBertFamily : BertFamily<Family, RotaryBertConfig> {
  static constexpr bool drops_gates = false;  ///< dropout also applies to the gated activations

  static EmbeddingForm embedding_form(const RotaryBertConfig&) { return {.positions = false}; }

  /// Makes the layers.
  static LayerStack layer_stack(const Scope& scope, const RotaryBertConfig& config) {
    EncoderLayers all{
        .layers = {}, .dropout = LayerForm{}.dropout(config), .mean_pooling = config.mean_pooling};
    if (Family::drops_gates) all.dropout.gates = config.hidden_dropout_prob;
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      all.layers.push_back(Family::layer((scope / Family::layers).layer(i), config));
    }
    return LayerStack{all};
  }
};

}  // namespace seqtrain::model
