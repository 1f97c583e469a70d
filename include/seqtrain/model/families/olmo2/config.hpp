#pragma once

#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads OLMo 2's settings. Throws `InputError` if one is missing, wrong or not supported.
inline DecoderConfig read_olmo2_config(const weights::ConfigFile& file) {
  auto defaults = decoder_defaults(50304);
  defaults.layer_norm_eps = 1e-5;
  defaults.pad_token_id = 1;
  auto config = read_decoder_config(file, defaults);
  read_attention_bias(file.root(), config);
  read_ropes(file, config, 10'000);
  return config;
}

}  // namespace seqtrain::model
