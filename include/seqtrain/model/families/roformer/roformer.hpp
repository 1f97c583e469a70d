#pragma once

#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/roformer/config.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/layers.hpp>

namespace seqtrain::model {

/// RoFormer (Su et al. 2021): BERT with rotary positions, whose pairs are neighbouring numbers, and
/// with embeddings that may be smaller.
struct RoFormer : BertFamily<RoFormer, RoFormerConfig> {
  static constexpr std::string_view model_type = "roformer";
  static constexpr std::string_view prefix = "roformer";
  static constexpr std::string_view classifier = "RoFormerForSequenceClassification";

  static constexpr auto read_config = read_roformer_config;

  static EmbeddingForm embedding_form(const Config&) { return {.positions = false}; }

  static HeadForm head_form(const Config& config) {
    return {.dense = "classifier.dense",
            .output = "classifier.out_proj",
            .activation = activation(config.hidden_act),
            .input_dropout = config.classifier_dropout_prob()};
  }

  /// Makes the layers, and keeps the checkpoint's table of sines, which layers compute themselves.
  static LayerStack layer_stack(const Scope& scope, const Config& config) {
    (void)(scope / "encoder.embed_positions")
        .fixed()
        .make("weight",
              {config.max_position_embeddings, config.hidden_size / config.num_attention_heads},
              Role::weight);
    EncoderLayers all = LayerStack{scope / layers, config}.parts();
    for (LayerParts& layer : all.layers) {
      layer.traits.rope = {.base = 10'000, .neighbours = true};
    }
    return LayerStack{all};
  }
};

}  // namespace seqtrain::model
