#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/mpnet/config.hpp>
#include <seqtrain/model/families/mpnet/encoder.hpp>
#include <seqtrain/model/families/roberta/config.hpp>
#include <seqtrain/model/families/roberta/roberta.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// MPNet (Song et al. 2020): scores of attention have a bias by the distance of two tokens, the
/// same in all layers. There are no token types; positions and the head are RoBERTa's.
struct Mpnet {
  static constexpr std::string_view model_type = "mpnet";
  static constexpr std::string_view prefix = "mpnet";
  static constexpr std::string_view classifier = "MPNetForSequenceClassification";
  using Config = weights::ModelConfig;
  using Encoder = MpnetEncoder;
  using Head = Roberta::Head;

  static Config read_config(const weights::ConfigFile& file) { return read_mpnet_config(file); }

  static std::int64_t max_length(const Config& config) { return length_after_padding(config); }
};

}  // namespace seqtrain::model
