#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <seqtrain/core/json.hpp>
#include <seqtrain/model/families/decoder/rope.hpp>
#include <seqtrain/model/families/layer_types.hpp>
#include <seqtrain/model/nn/rope.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The config.json of a decoder with Llama's layers.
struct DecoderConfig : weights::ModelConfig {
  /// Positions and mask of one layer.
  struct Layer {
    Rope rope = {};
    std::int64_t window = 0;  ///< keys that a query sees, itself included; 0 for all before it
  };

  std::int64_t key_heads = 0;  ///< heads of keys and values
  std::int64_t head_size = 0;
  bool attention_bias = false;  ///< the linear layers of queries, keys and values have biases
  bool attention_output_bias = false;  ///< attention's output linear layer has a bias
  bool mlp_bias = false;
  double residual_dropout = 0;  ///< rate for what the parts of a layer add to the residual
  double score_scale = 0;       ///< factor of scores; 0 for 1 / √head_size
  double score_cap = 0;         ///< scores stay below it; 0 if they may be of any size
  std::vector<Layer> layers = {};
};

/// Returns the defaults and keys that decoders share. They have no dropout but attention's.
[[nodiscard]] inline weights::ModelConfig decoder_defaults(std::int64_t vocabulary) {
  return {.vocab_size = vocabulary,
          .hidden_size = 4096,
          .num_hidden_layers = 32,
          .num_attention_heads = 32,
          .intermediate_size = 11008,
          .hidden_act = "silu",
          .hidden_dropout_prob = 0,
          .attention_probs_dropout_prob = 0,
          .classifier_dropout = 0,
          .max_position_embeddings = 2048,
          .type_vocab_size = 0,
          .layer_norm_eps = 1e-6,
          .pad_token_id = weights::no_pad_token,
          .is_causal = true,
          .keys = {.hidden_dropout_prob = "",
                   .attention_probs_dropout_prob = "attention_dropout",
                   .classifier_dropout = "",
                   .type_vocab_size = "",
                   .layer_norm_eps = "rms_norm_eps",
                   .position_embedding_type = ""},
          .may_have_silu = true};
}

/// Throws `InputError` unless a head can have rotary positions, which rotate pairs of numbers.
inline void check_even_head(const weights::ConfigFile& file, std::int64_t head_size) {
  weights::FieldCheck{file.name()}.require(
      head_size % 2 == 0, "head_dim",
      "rotary positions need heads of an even size, not " + std::to_string(head_size));
}

/// Reads the fields that all decoders have. `key_heads` and `head_size` are the values if keys are
/// absent: 0 for as many heads as queries have, and for their share of the hidden states. Layers
/// have neither positions nor windows yet.
[[nodiscard]] inline DecoderConfig read_decoder_config(const weights::ConfigFile& file,
                                                       const weights::ModelConfig& defaults,
                                                       std::int64_t key_heads = 0,
                                                       std::int64_t head_size = 0) {
  const json::Value root = file.root();
  DecoderConfig config{weights::read_config(file, defaults)};
  const auto count = [&](const char* key, std::int64_t absent, std::int64_t otherwise) {
    return weights::count_in(file, key, absent == 0 || root.has_null(key) ? otherwise : absent);
  };
  config.key_heads = count("num_key_value_heads", key_heads, config.num_attention_heads);
  config.head_size = count("head_dim", head_size, config.hidden_size / config.num_attention_heads);
  const weights::FieldCheck check{file.name()};
  check.require(config.num_attention_heads % config.key_heads == 0, "num_key_value_heads",
                std::to_string(config.key_heads) + " does not divide num_attention_heads, " +
                    std::to_string(config.num_attention_heads));
  check_even_head(file, config.head_size);
  config.layers.resize(static_cast<std::size_t>(config.num_hidden_layers));
  return config;
}

/// Reads whether attention's four linear layers have a bias.
inline void read_attention_bias(const json::Value& root, DecoderConfig& config) {
  weights::read(root, "attention_bias", config.attention_bias);
  config.attention_output_bias = config.attention_bias;
}

/// Throws `InputError` unless all numbers of a head are rotated.
inline void check_not_partial(const weights::ConfigFile& file, const Rope& rope) {
  weights::FieldCheck{file.name()}.require(rope.share == 1, "partial_rotary_factor",
                                           "is not supported; supported is 1");
}

/// Gives all layers the rotary positions of the file.
inline void read_ropes(const weights::ConfigFile& file, DecoderConfig& config, double base) {
  const Rope rope = rope_of_all_layers(file.root(), base, config.max_position_embeddings);
  check_not_partial(file, rope);
  for (DecoderConfig::Layer& layer : config.layers) layer.rope = rope;
}

/// Returns `sliding_window`, or 0 if it is null; `absent` if the file has none.
[[nodiscard]] inline std::int64_t sliding_window_in(const weights::ConfigFile& file,
                                                    std::int64_t absent) {
  if (file.root().has_null("sliding_window")) return 0;
  if (absent == 0 && !file.root().find("sliding_window")) return 0;
  return weights::count_in(file, "sliding_window", absent);
}

/// Gives the layers of `sliding` that window. Throws `InputError` if there is none.
inline void set_windows(const weights::ConfigFile& file, const std::vector<bool>& sliding,
                        std::int64_t window, DecoderConfig& config) {
  for (std::size_t i = 0; i < sliding.size(); ++i) {
    if (!sliding[i]) continue;
    weights::FieldCheck{file.name()}.require(
        window > 0, "layer_types", "has sliding_attention, but the file has no window for it");
    config.layers[i].window = window;
  }
}

/// Reads windows as Qwen has them: only with `use_sliding_window`, and without `layer_types` from
/// layer `max_window_layers` on.
inline void read_qwen_windows(const weights::ConfigFile& file, DecoderConfig& config) {
  bool used = false;
  weights::read(file.root(), "use_sliding_window", used);
  const std::int64_t window = sliding_window_in(file, 4096);
  std::int64_t first = 28;
  weights::read(file.root(), "max_window_layers", first);
  auto sliding = sliding_layers(file.root(), config.num_hidden_layers);
  if (!sliding) {
    sliding.emplace();
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i) {
      sliding->push_back(used && window > 0 && i >= first);
    }
  }
  set_windows(file, *sliding, used ? window : 0, config);
}

}  // namespace seqtrain::model
