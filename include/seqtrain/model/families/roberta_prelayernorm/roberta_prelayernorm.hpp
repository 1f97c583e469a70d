#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// RoBERTa with norms before the parts of a layer (Ott et al. 2019).
struct RobertaPreLayerNorm : BertFamily<RobertaPreLayerNorm> {
  static constexpr std::string_view model_type = "roberta-prelayernorm";
  static constexpr std::string_view prefix = "roberta_prelayernorm";
  static constexpr std::string_view classifier = "RobertaPreLayerNormForSequenceClassification";
  static constexpr Positions positions = Positions::after_padding;
  static constexpr std::string_view last_norm = "LayerNorm";
  static constexpr LayerForm layer_form{.attention_norm = "attention.LayerNorm",
                                        .output_norm = "intermediate.LayerNorm",
                                        .pre_norm = true};

  static Config read_config(const weights::ConfigFile& file) { return read_roberta_config(file); }

  static HeadForm head_form(const Config& config) { return Roberta::head_form(config); }

  static std::int64_t max_length(const Config& config) { return length_after_padding(config); }
};

}  // namespace seqtrain::model
