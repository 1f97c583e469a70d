#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

namespace detail {

/// Returns which layers have no positions: by a list, or each of a number.
inline std::vector<bool> layers_without_rope(const weights::ConfigFile& file, std::int64_t layers) {
  const auto count = static_cast<std::size_t>(layers);
  const auto every = static_cast<std::size_t>(weights::count_in(file, "no_rope_layer_interval", 4));
  std::vector<bool> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = (i + 1) % every == 0;
  const auto list = file.root().find("no_rope_layers");
  if (!list) return result;
  const auto items = list->items();
  if (items.size() != count) {
    throw list->error("has " + std::to_string(items.size()) +
                      " numbers, but num_hidden_layers is " + std::to_string(count));
  }
  for (std::size_t i = 0; i < count; ++i) result[i] = items[i].integer() == 0;
  return result;
}

}  // namespace detail

/// Reads SmolLM3's settings. Throws `InputError` if one is missing, wrong or not supported.
inline DecoderConfig read_smollm3_config(const weights::ConfigFile& file) {
  auto defaults = decoder_defaults(128256);
  defaults.hidden_size = 2048;
  defaults.num_hidden_layers = 36;
  defaults.num_attention_heads = 16;
  defaults.max_position_embeddings = 32768;
  defaults.pad_token_id = 128004;
  auto config = read_decoder_config(file, defaults, 4);
  read_attention_bias(file.root(), config);
  weights::read(file.root(), "mlp_bias", config.mlp_bias);
  read_ropes(file, config, 2'000'000);
  const auto without = detail::layers_without_rope(file, config.num_hidden_layers);
  bool used = false;
  weights::read(file.root(), "use_sliding_window", used);
  const std::int64_t given = sliding_window_in(file, 0), window = used ? given : 0;
  auto sliding = sliding_layers(file.root(), config.num_hidden_layers);
  if (!sliding) sliding = window > 0 ? without : std::vector<bool>(without.size());
  set_windows(file, *sliding, window, config);
  for (std::size_t i = 0; i < without.size(); ++i) {
    if (without[i]) config.layers[i].rope = {};
  }
  return config;
}

}  // namespace seqtrain::model
