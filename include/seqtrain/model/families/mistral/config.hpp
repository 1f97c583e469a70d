#pragma once

#include <cstdint>

#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Reads Mistral's settings. Throws `InputError` if one is missing, wrong or not supported.
inline DecoderConfig read_mistral_config(const weights::ConfigFile& file) {
  auto defaults = decoder_defaults(32000);
  defaults.intermediate_size = 14336;
  defaults.max_position_embeddings = 131072;
  auto config = read_decoder_config(file, defaults, 8);
  read_ropes(file, config, 10'000);
  const std::int64_t window = sliding_window_in(file, 4096);
  for (DecoderConfig::Layer& layer : config.layers) layer.window = window;
  return config;
}

}  // namespace seqtrain::model
