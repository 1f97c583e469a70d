#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/bert/embeddings.hpp>
#include <seqtrain/model/families/bert/encoder.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/model/nn/layer_form.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The BERT family (Devlin et al. 2019).
struct Bert {
  static constexpr std::string_view model_type = "bert";
  static constexpr std::string_view prefix = "bert";
  static constexpr std::string_view classifier = "BertForSequenceClassification";
  static constexpr Positions positions = Positions::from_zero;
  static constexpr std::string_view layers = "encoder.layer";
  static constexpr LayerForm layer_form{};
  using Config = weights::ModelConfig;
  using Encoder = BertEncoder<Bert>;
  using Head = ClassificationHead<Bert>;

  static Config read_config(const weights::ConfigFile& file) { return weights::read_config(file); }

  static HeadForm head_form(const Config&) { return {.dense = "bert.pooler.dense"}; }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
