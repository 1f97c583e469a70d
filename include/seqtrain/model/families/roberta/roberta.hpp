#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/bert/encoder.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/families/roberta/embeddings.hpp>
#include <seqtrain/model/families/roberta/head.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The RoBERTa family (Liu et al. 2019).
struct Roberta {
  static constexpr std::string_view model_type = "roberta";
  static constexpr std::string_view prefix = "roberta";
  static constexpr std::string_view classifier = "RobertaForSequenceClassification";
  using Config = weights::ModelConfig;
  using Encoder = BertEncoder<RobertaEmbeddings>;
  using Head = RobertaHead;

  static Config read_config(const weights::ConfigFile& file) { return read_roberta_config(file); }

  static std::int64_t max_length(const Config& config) { return length_after_padding(config); }
};

}  // namespace seqtrain::model
