#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/deberta_v2/config.hpp>
#include <seqtrain/model/families/deberta_v2/encoder.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// DeBERTa-v2 and DeBERTa-v3 (He et al. 2021): attention depends on distances in place of absolute
/// positions. Both versions call themselves deberta-v2.
struct DebertaV2 {
  static constexpr std::string_view model_type = "deberta-v2";
  static constexpr std::string_view prefix = "deberta";
  static constexpr std::string_view classifier = "DebertaV2ForSequenceClassification";
  using Config = DebertaV2Config;
  using Encoder = DebertaV2Encoder;
  using Head = ClassificationHead<DebertaV2>;

  static Config read_config(const weights::ConfigFile& file) {
    return read_deberta_v2_config(file);
  }

  static HeadForm head_form(const Config& config) {
    return {.dense = "pooler.dense",
            .activation = activation(config.pooler_hidden_act),
            .input_dropout = config.pooler_dropout};
  }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
