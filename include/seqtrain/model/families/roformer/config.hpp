#pragma once

#include <cstdint>

#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// RoFormer's config.json.
struct RoFormerConfig : weights::ModelConfig {
  std::int64_t embedding_size = 768;
};

/// Reads RoFormer's settings. Throws `InputError` if one is missing, wrong or not supported.
inline RoFormerConfig read_roformer_config(const weights::ConfigFile& file) {
  RoFormerConfig config{weights::read_config(
      file,
      {.vocab_size = 50000, .max_position_embeddings = 1536, .keys = {.classifier_dropout = ""}})};
  config.embedding_size = weights::count_in(file, "embedding_size", config.hidden_size);
  bool turns_values = false;
  weights::read(file.root(), "rotary_value", turns_values);
  const weights::FieldCheck check{file.name()};
  check.require(!turns_values, "rotary_value", "true is not supported");
  check.require(config.hidden_size / config.num_attention_heads % 2 == 0, "num_attention_heads",
                "rotary positions need heads of an even size");
  return config;
}

}  // namespace seqtrain::model
