#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/electra/config.hpp>
#include <seqtrain/model/families/electra/encoder.hpp>
#include <seqtrain/model/families/electra/head.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// ELECTRA's discriminator (Clark et al. 2020): BERT whose embeddings may be smaller.
struct Electra {
  static constexpr std::string_view model_type = "electra";
  static constexpr std::string_view prefix = "electra";
  static constexpr std::string_view classifier = "ElectraForSequenceClassification";
  using Config = ElectraConfig;
  using Encoder = ElectraEncoder;
  using Head = ElectraHead;

  static Config read_config(const weights::ConfigFile& file) { return read_electra_config(file); }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
