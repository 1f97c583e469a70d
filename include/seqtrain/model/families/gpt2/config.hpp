#pragma once

#include <seqtrain/core/json.hpp>
#include <seqtrain/weights/config_file.hpp>
#include <seqtrain/weights/model_config.hpp>

namespace seqtrain::model {

/// The config.json of GPT-2.
struct Gpt2Config : weights::ModelConfig {
  double embedding_dropout = 0.1;
  bool scales_scores = true;     ///< by 1 / √(size of a head)
  bool scales_by_layer = false;  ///< scores of layer i are divided by i + 1, too

  /// Sets every dropout rate.
  void set_dropout(double rate) {
    ModelConfig::set_dropout(rate);
    embedding_dropout = rate;
  }
};

/// Reads GPT-2's settings. Throws `InputError` if one is wrong or not supported.
inline Gpt2Config read_gpt2_config(const weights::ConfigFile& file) {
  const json::Value root = file.root();
  const auto key = [&](const char* berts, const char* own) {
    return weights::key_of(root, berts, own);
  };
  weights::ModelConfig defaults{
      .vocab_size = 50257,
      .hidden_act = "gelu_new",
      .classifier_dropout = 0,
      .max_position_embeddings = 1024,
      .type_vocab_size = 0,
      .layer_norm_eps = 1e-5,
      .pad_token_id = weights::no_pad_token,
      .is_causal = true,
      .keys = {.hidden_size = key("hidden_size", "n_embd"),
               .num_hidden_layers = key("num_hidden_layers", "n_layer"),
               .num_attention_heads = key("num_attention_heads", "n_head"),
               .intermediate_size = "n_inner",
               .hidden_act = "activation_function",
               .hidden_dropout_prob = "resid_pdrop",
               .attention_probs_dropout_prob = "attn_pdrop",
               .classifier_dropout = "",
               .type_vocab_size = "",
               .layer_norm_eps = "layer_norm_epsilon",
               .position_embedding_type = ""},
      .may_have_silu = true};
  weights::read(root, defaults.keys.hidden_size, defaults.hidden_size);
  defaults.intermediate_size = 4 * defaults.hidden_size;
  weights::read(root, "n_positions", defaults.max_position_embeddings);
  Gpt2Config config{weights::read_config(file, defaults)};
  weights::read(root, "embd_pdrop", config.embedding_dropout);
  weights::FieldCheck{file.name()}.probability(config.embedding_dropout, "embd_pdrop");
  weights::read(root, "scale_attn_weights", config.scales_scores);
  weights::read(root, "scale_attn_by_inverse_layer_idx", config.scales_by_layer);
  return config;
}

}  // namespace seqtrain::model
