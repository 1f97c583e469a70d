#pragma once

#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/megatron_bert/config.hpp>
#include <seqtrain/model/nn/classification_head.hpp>

namespace seqtrain::model {

/// Megatron-BERT (Shoeybi et al. 2019): BERT with norms before the parts of a layer, and none of
/// the embeddings.
struct MegatronBert : BertFamily<MegatronBert> {
  static constexpr std::string_view model_type = "megatron-bert";
  static constexpr std::string_view prefix = "bert";
  static constexpr std::string_view classifier = "MegatronBertForSequenceClassification";
  static constexpr std::string_view last_norm = "encoder.ln";
  static constexpr LayerForm layer_form{
      .attention_norm = "attention.ln", .output_norm = "ln", .pre_norm = true};

  static constexpr auto read_config = read_megatron_bert_config;

  static EmbeddingForm embedding_form(const Config&) { return {.norm = false}; }
  static HeadForm head_form(const Config&) { return {.dense = "bert.pooler.dense"}; }
};

}  // namespace seqtrain::model
