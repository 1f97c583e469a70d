#pragma once

#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads Qwen2's settings. Throws `InputError` if one is missing, wrong or not supported.
inline DecoderConfig read_qwen2_config(const weights::ConfigFile& file) {
  auto defaults = decoder_defaults(151936);
  defaults.intermediate_size = 22016;
  defaults.max_position_embeddings = 32768;
  auto config = read_decoder_config(file, defaults, 32);
  config.attention_bias = true;
  read_ropes(file, config, 10'000);
  read_qwen_windows(file, config);
  return config;
}

}  // namespace seqtrain::model
