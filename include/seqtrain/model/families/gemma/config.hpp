#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/families/decoder/config.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

namespace detail {

/// Reads the fields that Gemma 2 and 3 share. Without `layer_types`, each layer of `pattern` has no
/// window.
inline DecoderConfig read_gemma(const weights::ConfigFile& file, std::int64_t vocabulary,
                                std::int64_t positions, std::int64_t pattern) {
  const json::Value root = file.root();
  auto defaults = decoder_defaults(vocabulary);
  defaults.hidden_size = 2304;
  defaults.num_hidden_layers = 26;
  defaults.num_attention_heads = 8;
  defaults.intermediate_size = 9216;
  defaults.hidden_act = "gelu_pytorch_tanh";
  defaults.max_position_embeddings = positions;
  defaults.pad_token_id = 0;
  defaults.keys.hidden_act = "hidden_activation";
  auto config = read_decoder_config(file, defaults, 4, 256);
  read_attention_bias(root, config);
  config.score_scale =
      1 / std::sqrt(static_cast<double>(weights::count_in(file, "query_pre_attn_scalar", 256)));
  if (const auto both = root.find("use_bidirectional_attention"); both && both->boolean()) {
    throw both->error("true is not supported");
  }
  auto sliding = sliding_layers(root, config.num_hidden_layers);
  if (!sliding) {
    sliding.emplace();
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      sliding->push_back((i + 1) % pattern != 0);
    }
  }
  set_windows(file, *sliding, sliding_window_in(file, 4096), config);
  return config;
}

}  // namespace detail

/// Reads Gemma 2's settings. Throws `InputError` if one is missing, wrong or not supported.
inline DecoderConfig read_gemma2_config(const weights::ConfigFile& file) {
  auto config = detail::read_gemma(file, 256000, 8192, 2);
  if (!file.root().has_null("attn_logit_softcapping")) {
    config.score_cap = 50;
    detail::read_positive(file.root(), "attn_logit_softcapping", config.score_cap);
    const auto cap = static_cast<float>(config.score_cap);
    weights::FieldCheck{file.name()}.require(
        cap > 0 && std::isfinite(cap), "attn_logit_softcapping", "is not a number of float32");
  }
  read_ropes(file, config, 10'000);
  return config;
}

/// Reads Gemma 3's settings for texts. Throws `InputError` if one is missing, wrong or not
/// supported. transformers does not cap Gemma 3's scores, whatever a file says.
inline DecoderConfig read_gemma3_text_config(const weights::ConfigFile& file) {
  const json::Value root = file.root();
  auto config = detail::read_gemma(file, 262208, 131072,
                                   weights::count_in(file, "sliding_window_pattern", 6));
  Rope full{.base = 1'000'000}, local{.base = 10'000};
  detail::read_positive(root, "rope_theta", full.base);
  detail::read_positive(root, "rope_local_base_freq", local.base);
  const auto length = static_cast<double>(config.max_position_embeddings);
  if (const auto all = root.find("rope_parameters")) {
    check_ropes_by_type(*all);
    if (const auto object = all->find("full_attention")) full = rope_in(*object, full, length);
    if (const auto object = all->find("sliding_attention")) local = rope_in(*object, local, length);
  }
  if (const auto scaling = root.find("rope_scaling")) full = rope_in(*scaling, full, length);
  check_not_partial(file, full);
  check_not_partial(file, local);
  for (DecoderConfig::Layer& layer : config.layers) layer.rope = layer.window > 0 ? local : full;
  return config;
}

}  // namespace seqtrain::model
