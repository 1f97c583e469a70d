#pragma once

#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/distilbert/config.hpp>
#include <seqtrain/model/families/encoder_layer.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/classification_head.hpp>

namespace seqtrain::model {

/// The DistilBERT family (Sanh et al. 2019): BERT without token types, with its own parameter names
/// and head.
struct DistilBert : BertFamily<DistilBert> {
  static constexpr std::string_view model_type = "distilbert";
  static constexpr std::string_view prefix = "distilbert";
  static constexpr std::string_view classifier = "DistilBertForSequenceClassification";
  static constexpr std::string_view layers = "transformer.layer";
  static constexpr LayerForm layer_form{.query = "attention.q_lin",
                                        .key = "attention.k_lin",
                                        .value = "attention.v_lin",
                                        .attention_output = "attention.out_lin",
                                        .attention_norm = "sa_layer_norm",
                                        .intermediate = "ffn.lin1",
                                        .output = "ffn.lin2",
                                        .output_norm = "output_layer_norm",
                                        .drops_attention_output = false};

  static constexpr auto read_config = read_distilbert_config;

  static HeadForm head_form(const Config&) {
    return {.dense = "pre_classifier", .activation = activation("relu")};
  }
};

}  // namespace seqtrain::model
