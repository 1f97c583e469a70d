#pragma once

#include <string_view>

#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// data2vec for texts (Baevski et al. 2022): RoBERTa with another pre-training.
struct Data2VecText : Roberta {
  static constexpr std::string_view model_type = "data2vec-text";
  static constexpr std::string_view prefix = "data2vec_text";
  static constexpr std::string_view classifier = "Data2VecTextForSequenceClassification";

  static Config read_config(const weights::ConfigFile& file) {
    return read_roberta_config(file, 30522);
  }
};

}  // namespace seqtrain::model
