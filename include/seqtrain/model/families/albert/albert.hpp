#pragma once

#include <cstdint>
#include <string_view>

#include <seqtrain/model/families/albert/config.hpp>
#include <seqtrain/model/families/albert/encoder.hpp>
#include <seqtrain/model/nn/classification_head.hpp>
#include <seqtrain/weights/config_file.hpp>

namespace seqtrain::model {

/// ALBERT (Lan et al. 2020): layers share their weights, and embeddings are projected.
struct Albert {
  static constexpr std::string_view model_type = "albert";
  static constexpr std::string_view prefix = "albert";
  static constexpr std::string_view classifier = "AlbertForSequenceClassification";
  using Config = AlbertConfig;
  using Encoder = AlbertEncoder;
  using Head = ClassificationHead<Albert>;

  static Config read_config(const weights::ConfigFile& file) { return read_albert_config(file); }

  static HeadForm head_form(const Config&) { return {.dense = "albert.pooler"}; }

  static std::int64_t max_length(const Config& config) { return config.max_position_embeddings; }
};

}  // namespace seqtrain::model
