#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/bert/bert.hpp>
#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/electra/config.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/layer_form.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// ELECTRA's discriminator (Clark et al. 2020): BERT whose embeddings may be smaller.
struct Electra {
  static constexpr std::string_view model_type = "electra";
  static constexpr std::string_view prefix = "electra";
  static constexpr std::string_view classifier = "ElectraForSequenceClassification";
  static constexpr Positions positions = Positions::from_zero;
  static constexpr std::string_view layers = "encoder.layer";
  static constexpr LayerForm layer_form{};
  using Config = ElectraConfig;
  using Encoder = BertEncoder<Electra>;
  using Head = ClassificationHead<Electra>;

  static Config read_config(const weights::ConfigFile& file) { return read_electra_config(file); }

  static HeadForm head_form(const Config& config) {
    return {.dense = "classifier.dense",
            .output = "classifier.out_proj",
            .activation = activation("gelu"),
            .input_dropout = config.classifier_dropout_prob()};
  }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
