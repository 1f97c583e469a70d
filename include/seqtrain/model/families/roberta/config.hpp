#pragma once

#include <cstdint>

#include <seqtrain/core/error.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Returns the number of tokens that a row may have if positions count from pad_token_id + 1 on.
[[nodiscard]] inline std::int64_t length_after_padding(const weights::ModelConfig& config) {
  return config.max_position_embeddings - config.pad_token_id - 1;
}

/// Throws `InputError` if there is no position for a token.
inline void check_positions_after_padding(const weights::ConfigFile& file,
                                          const weights::ModelConfig& config) {
  if (config.pad_token_id == weights::no_pad_token) {
    throw InputError{"null is not supported, because positions count from pad_token_id + 1 on",
                     {.object = file.name(), .field = "pad_token_id"}};
  }
  if (length_after_padding(config) > 0) return;
  throw InputError{"leaves no position after pad_token_id",
                   {.object = file.name(), .field = "max_position_embeddings"}};
}

/// Reads the config.json of RoBERTa or of a family with the layers of RoBERTa. If the file has no
/// `vocab_size`, the parameter `vocab_size` is used.
inline weights::ModelConfig read_roberta_config(const weights::ConfigFile& file,
                                                std::int64_t vocab_size = 50265) {
  auto config = weights::read_config(file, {.vocab_size = vocab_size, .pad_token_id = 1});
  check_positions_after_padding(file, config);
  return config;
}

}  // namespace seqtrain::model
