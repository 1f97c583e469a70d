#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/model/families/xlm_roberta_xl/config.hpp>
#include <seqtrain/model/nn/classification_head.hpp>

namespace seqtrain::model {

/// XLM-RoBERTa-XL (Goyal et al. 2021): a large XLM-RoBERTa with norms before the parts of a layer,
/// and none of the embeddings.
struct XlmRobertaXl : BertFamily<XlmRobertaXl> {
  static constexpr std::string_view model_type = "xlm-roberta-xl";
  static constexpr std::string_view prefix = "roberta";
  static constexpr std::string_view classifier = "XLMRobertaXLForSequenceClassification";
  static constexpr Positions positions = Positions::after_padding;
  static constexpr std::string_view last_norm = "encoder.LayerNorm";
  static constexpr LayerForm layer_form{.attention_norm = "attention.self_attn_layer_norm",
                                        .output_norm = "LayerNorm",
                                        .drops_output = false,
                                        .pre_norm = true};

  static constexpr auto read_config = read_xlm_roberta_xl_config;

  static EmbeddingForm embedding_form(const Config&) { return {.norm = false}; }
  static HeadForm head_form(const Config& config) { return Roberta::head_form(config); }

  static std::int64_t max_length(const Config& config) { return length_after_padding(config); }
};

}  // namespace seqtrain::model
