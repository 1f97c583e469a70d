#pragma once

#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads Llama's settings. Throws `InputError` if one is missing, wrong or not supported.
inline DecoderConfig read_llama_config(const weights::ConfigFile& file) {
  auto config = read_decoder_config(file, decoder_defaults(32000));
  read_attention_bias(file.root(), config);
  weights::read(file.root(), "mlp_bias", config.mlp_bias);
  read_ropes(file, config, 10'000);
  return config;
}

}  // namespace seqtrain::model
