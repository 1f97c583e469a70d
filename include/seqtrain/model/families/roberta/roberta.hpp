#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// The RoBERTa family (Liu et al. 2019).
struct Roberta : BertFamily<Roberta> {
  static constexpr std::string_view model_type = "roberta";
  static constexpr std::string_view prefix = "roberta";
  static constexpr std::string_view classifier = "RobertaForSequenceClassification";
  static constexpr Positions positions = Positions::after_padding;

  static Config read_config(const weights::ConfigFile& file) { return read_roberta_config(file); }

  static HeadForm head_form(const Config& config) {
    return {.dense = "classifier.dense",
            .output = "classifier.out_proj",
            .input_dropout = config.classifier_dropout_prob()};
  }

  static std::int64_t max_length(const Config& config) { return length_after_padding(config); }
};

/// The CamemBERT family (Martin et al. 2020): RoBERTa for French.
struct Camembert : Roberta {
  static constexpr std::string_view model_type = "camembert";
  static constexpr std::string_view classifier = "CamembertForSequenceClassification";

  static Config read_config(const weights::ConfigFile& file) {
    return read_roberta_config(file, 30522);
  }
};

/// The XLM-RoBERTa family (Conneau et al. 2020): RoBERTa for a hundred languages.
struct XlmRoberta : Camembert {
  static constexpr std::string_view model_type = "xlm-roberta";
  static constexpr std::string_view classifier = "XLMRobertaForSequenceClassification";
};

}  // namespace seqtrain::model
