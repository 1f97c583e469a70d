#pragma once

#include <string_view>

#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// The CamemBERT family (Martin et al. 2020): RoBERTa for French.
struct Camembert : Roberta {
  static constexpr std::string_view model_type = "camembert";
  static constexpr std::string_view classifier = "CamembertForSequenceClassification";

  static Config read_config(const weights::ConfigFile& file) {
    return read_roberta_config(file, 30522);
  }
};

}  // namespace seqtrain::model
