#pragma once

#include <string_view>

#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// The XLM-RoBERTa family (Conneau et al. 2020): RoBERTa for a hundred languages.
struct XlmRoberta : Roberta {
  static constexpr std::string_view model_type = "xlm-roberta";
  static constexpr std::string_view classifier = "XLMRobertaForSequenceClassification";

  static Config read_config(const weights::ConfigFile& file) {
    return read_roberta_config(file, 30522);
  }
};

}  // namespace seqtrain::model
