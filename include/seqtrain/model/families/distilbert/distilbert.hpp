#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/distilbert/config.hpp>
#include <seqtrain/model/families/distilbert/encoder.hpp>
#include <seqtrain/model/families/distilbert/head.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The DistilBERT family (Sanh et al. 2019): BERT without token types, with its own parameter names
/// and head.
struct DistilBert {
  static constexpr std::string_view model_type = "distilbert";
  static constexpr std::string_view prefix = "distilbert";
  static constexpr std::string_view classifier = "DistilBertForSequenceClassification";
  using Config = weights::ModelConfig;
  using Encoder = DistilBertEncoder;
  using Head = DistilBertHead;

  static Config read_config(const weights::ConfigFile& file) {
    return read_distilbert_config(file);
  }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
