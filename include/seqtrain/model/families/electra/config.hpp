#pragma once

#include <cstdint>

#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// ELECTRA's config.json.
struct ElectraConfig : weights::ModelConfig {
  std::int64_t embedding_size = 128;
};

/// Reads ELECTRA's settings. Throws `InputError` if one is missing, wrong or not supported.
inline ElectraConfig read_electra_config(const weights::ConfigFile& file) {
  return {weights::read_config(
              file, {.hidden_size = 256, .num_attention_heads = 4, .intermediate_size = 1024}),
          weights::count_in(file, "embedding_size", 128)};
}

}  // namespace seqtrain::model
