#pragma once

#include <cstdint>

#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// Phi-3's config.json.
struct Phi3Config : DecoderConfig {
  /// Sets every rate of dropout.
  void set_dropout(double rate) {
    DecoderConfig::set_dropout(rate);
    residual_dropout = rate;
  }
};

/// Reads Phi-3's settings. Throws `InputError` if one is missing, wrong or not supported.
inline Phi3Config read_phi3_config(const weights::ConfigFile& file) {
  auto defaults = decoder_defaults(32064);
  defaults.hidden_size = 3072;
  defaults.intermediate_size = 8192;
  defaults.max_position_embeddings = 4096;
  defaults.layer_norm_eps = 1e-5;
  defaults.pad_token_id = 32000;
  Phi3Config config{read_decoder_config(file, defaults)};
  weights::read(file.root(), "resid_pdrop", config.residual_dropout);
  const Rope rope = rope_of_all_layers(file.root(), 10'000, config.max_position_embeddings);
  const weights::FieldCheck check{file.name()};
  check.probability(config.residual_dropout, "resid_pdrop");
  check.require(rope.scaling == Rope::Scaling::none, "rope_scaling",
                "is not supported; supported is default");
  check.require(rope.share <= 1, "partial_rotary_factor", "is above 1");
  const std::int64_t rotated = rotated_size(rope, config.head_size);
  check.require(rotated >= 2 && rotated % 2 == 0, "partial_rotary_factor",
                "does not give an even part of head_dim");
  const std::int64_t window = sliding_window_in(file, 0);
  for (DecoderConfig::Layer& layer : config.layers) layer = {rope, window};
  return config;
}

}  // namespace seqtrain::model
