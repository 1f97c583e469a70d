#pragma once

#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/electra/config.hpp>
#include <seqtrain/model/nn/activation.hpp>
#include <seqtrain/model/nn/classification_head.hpp>

namespace seqtrain::model {

/// ELECTRA's discriminator (Clark et al. 2020): BERT whose embeddings may be smaller.
struct Electra : BertFamily<Electra, ElectraConfig> {
  static constexpr std::string_view model_type = "electra";
  static constexpr std::string_view prefix = "electra";
  static constexpr std::string_view classifier = "ElectraForSequenceClassification";

  static constexpr auto read_config = read_electra_config;

  static HeadForm head_form(const Config& config) {
    return {.dense = "classifier.dense",
            .output = "classifier.out_proj",
            .activation = activation("gelu"),
            .input_dropout = config.classifier_dropout_prob()};
  }
};

}  // namespace seqtrain::model
