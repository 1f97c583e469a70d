#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/modernbert/config.hpp>
#include <seqtrain/model/families/modernbert/encoder.hpp>
#include <seqtrain/model/families/modernbert/head.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// ModernBERT (Warner et al. 2024): rotary positions, norms before attention and feed-forward
/// networks, gates, and by default a window on two layers of three.
struct ModernBert {
  static constexpr std::string_view model_type = "modernbert";
  static constexpr std::string_view prefix = "model";
  static constexpr std::string_view classifier = "ModernBertForSequenceClassification";
  using Config = ModernBertConfig;
  using Encoder = ModernBertEncoder;
  using Head = ModernBertHead;

  static Config read_config(const weights::ConfigFile& file) {
    return read_modernbert_config(file);
  }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
